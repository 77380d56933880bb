#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern "C" int scale(float* x, float factor);

static PyObject* scale_one(PyObject*, PyObject* arguments) {
  float x, factor;
  if (!PyArg_ParseTuple(arguments, "ff", &x, &factor)) return nullptr;
  if (const int error = scale(&x, factor)) return PyErr_Format(PyExc_RuntimeError, "CUDA error %d", error);
  return PyFloat_FromDouble(x);
}

static PyMethodDef methods[] = {{"scale", scale_one, METH_VARARGS, "x * factor, on the GPU"}, {}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_scaling", nullptr, -1, methods};

PyMODINIT_FUNC PyInit__scaling() { return PyModule_Create(&module); }
