/* The CUDA runtime as far as the preflight meets it. */
#include <stddef.h>
#include <stdlib.h>

struct dim {
  unsigned x, y, z;
};

#ifndef RUNTIME
#define RUNTIME 12000
#endif

static void *handles[4096];
static unsigned count;

void **__cudaRegisterFatBinary(void *wrapper) {
  (void)wrapper;
  return &handles[__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) % 4096];
}
/* All that is handed on arrives. */
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads, void *thread, void *block, void *block_dim,
                            void *grid_dim, int *warp) {
  if (handle < handles || handle >= handles + 4096 || host || device || name || threads != 7 || thread || block || block_dim || grid_dim || *warp != 7)
    abort();
}
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant, int global) {
  if (handle < handles || handle >= handles + 4096 || host || device || name || ext || size != 7 || constant || global) abort();
}
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t size, int constant, int global) {
  if (handle < handles || handle >= handles + 4096 || host || device || name || ext || size != 7 || constant || global) abort();
}
int cudaRuntimeGetVersion(int *version) {
  *version = RUNTIME;
  return 0;
}
int cudaMalloc(void **pointer, size_t size) {
  (void)size;
  *pointer = NULL;
  return 0;
}
unsigned __cudaPushCallConfiguration(struct dim grid, struct dim block, size_t shared, void *stream) {
  return grid.x + block.y + (unsigned)shared == 6 && stream == handles ? 0 : 1;
}
int cudaLaunchKernel(const void *kernel, struct dim grid, struct dim block, void **arguments, size_t shared, void *stream) {
  (void)kernel;
  (void)arguments;
  return (int)__cudaPushCallConfiguration(grid, block, shared, stream);
}
