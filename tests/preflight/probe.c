/* Prints what the preflight says. Words: "init" initialises CUDA first, "threads" asks by eight threads at once, while a ninth registers, "fork" in a
 * child, "malloc" allocates first. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "archguard_preflight.h"

#ifdef __cplusplus
extern "C"
#endif
int cudaMalloc(void **pointer, size_t size);
#ifdef __cplusplus
extern "C"
#endif
void **__cudaRegisterFatBinary(void *wrapper);
#ifdef __cplusplus
extern "C"
#endif
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant, int global);

/* A fat binary that nothing is in, as a library registers it that is loaded while others ask. */
static void register_empty(void) {
  static const unsigned empty[4] = {0xba55ed50, 0x100001, 0, 0};
  static struct {
    unsigned magic, version;
    const void *data, *parts;
  } wrapper = {0x466243b1, 1, empty, NULL};
  __cudaRegisterVar(__cudaRegisterFatBinary(&wrapper), NULL, NULL, NULL, 0, 7, 0, 0);
}

static void print_report(void) {
  struct archguard_preflight_report *report = (struct archguard_preflight_report *)malloc(sizeof *report);
  memset(report, 0xa5, sizeof *report);
  const enum archguard_preflight_answer answer = archguard_preflight_check(report);
  printf("%d %d %d %d|%s\n", (int)answer, report->code, (int)report->machine, archguard_preflight_passes(report), report->sentence);
  for (unsigned i = 0; i < report->device_count; ++i)
    printf("  %d.%d %s %d %d|%s\n", report->devices[i].major, report->devices[i].minor, report->devices[i].name,
           (int)report->devices[i].answer, report->devices[i].code, report->devices[i].sentence);
  fflush(stdout);
  free(report);
}

static void *ask(void *told) {
  struct archguard_preflight_report *report = (struct archguard_preflight_report *)malloc(sizeof *report);
  for (int i = 0; i < 50; ++i) *(int *)told += (int)archguard_preflight_check(report);
  free(report);
  return NULL;
}

int main(int count, char **words) {
  for (int i = 1; i < count; ++i) {
    if (strcmp(words[i], "init") == 0) {
      void *library = dlopen("libcuda.so.1", RTLD_NOW);
      void *symbol = library != NULL ? dlsym(library, "cuInit") : NULL;
      int (*init)(unsigned) = NULL;
      memcpy(&init, &symbol, sizeof symbol);
      printf("cuInit %d\n", init != NULL ? init(0) : -1);
    }
    if (strcmp(words[i], "malloc") == 0) {
      void *pointer;
      cudaMalloc(&pointer, 1);
    }
    if (strcmp(words[i], "fork") == 0) {
      const pid_t child = fork();
      int status = 0;
      if (child == 0) {
        print_report();
        _exit(0);
      }
      waitpid(child, &status, 0);
      return status;
    }
    if (strcmp(words[i], "threads") == 0) {
      pthread_t threads[8];
      int told[8] = {0};
      for (int k = 0; k < 8; ++k) pthread_create(&threads[k], NULL, ask, &told[k]);
      for (int k = 0; k < 300; ++k) register_empty();
      for (int k = 0; k < 8; ++k) pthread_join(threads[k], NULL);
      for (int k = 0; k < 8; ++k) printf("%d\n", told[k]);
    }
  }
  print_report();
  return 0;
}
