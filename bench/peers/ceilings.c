/* What the machine can do: FMAs on registers, and reading memory. Compiled by
 * run_machine.py for the CPU it runs on. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __AVX512F__
#define LANES 16
#else
#define LANES 8
#endif
#define MOST_THREADS 64

typedef float Vector __attribute__((vector_size(4 * LANES)));
typedef float Unaligned __attribute__((vector_size(4 * LANES), aligned(4)));

typedef struct {
  double work;    /* done by this thread */
  double seconds; /* to run, then how long it took */
  const float *data;
  size_t count;
  int streams;
  volatile float sink;
} Job;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

/* Twelve chains hide the latency of two FMAs a cycle. */
static void *multiply(void *argument) {
  Job *job = argument;
  Vector sums[12], factor = {0}, term = {0};
  for (int i = 0; i < 12; ++i)
    sums[i] = factor + (float)i;
  factor += 0.999f;
  term += 0.001f;
  double begin = now(), end;
  do {
    for (int n = 0; n < 10000; ++n)
#pragma GCC unroll 12
      for (int i = 0; i < 12; ++i)
        sums[i] = sums[i] * factor + term;
    job->work += 10000.0 * 12 * LANES * 2;
    end = now();
  } while (end - begin < job->seconds);
  for (int i = 1; i < 12; ++i)
    sums[0] += sums[i];
  job->sink = sums[0][0];
  job->seconds = end - begin;
  return NULL;
}

/* Some processors need several ascending streams to fill their bus. */
#define READ(STREAMS)                                                          \
  for (size_t n = 0; n + 2 * LANES <= part; n += 2 * LANES)                    \
    _Pragma("GCC unroll 8") for (int s = 0; s < STREAMS; ++s) {                \
      const float *at = job->data + s * part + n;                              \
      sums[2 * s] += *(const Unaligned *)at;                                   \
      sums[2 * s + 1] += *(const Unaligned *)(at + LANES);                     \
    }

static void *sum(void *argument) {
  Job *job = argument;
  Vector sums[12];
  memset(sums, 0, sizeof sums);
  size_t part = job->count / job->streams;
  double begin = now();
  if (job->streams == 2) {
    READ(2)
  } else if (job->streams == 4) {
    READ(4)
  } else {
    READ(6)
  }
  job->work = job->streams * (double)part * sizeof(float);
  for (int i = 1; i < 12; ++i)
    sums[0] += sums[i];
  job->sink = sums[0][0];
  job->seconds = now() - begin;
  return NULL;
}

/* Work in a second of all threads together. */
static double run(Job *jobs, int threads, void *(*body)(void *)) {
  pthread_t ids[MOST_THREADS];
  double rate = 0;
  for (int i = 1; i < threads; ++i)
    pthread_create(&ids[i], NULL, body, &jobs[i]);
  body(&jobs[0]);
  for (int i = 0; i < threads; ++i) {
    if (i)
      pthread_join(ids[i], NULL);
    rate += jobs[i].work / jobs[i].seconds;
  }
  return rate;
}

double measure_fma(int threads, double seconds) {
  Job jobs[MOST_THREADS];
  for (int i = 0; i < threads; ++i)
    jobs[i] = (Job){.seconds = seconds};
  return run(jobs, threads, multiply);
}

double measure_read(int threads, int streams, size_t bytes) {
  static float *memory;
  if (!memory) {
    memory = aligned_alloc(1 << 21, bytes);
    memset(memory, 1, bytes);
  }
  Job jobs[MOST_THREADS];
  size_t count = bytes / sizeof(float) / threads;
  for (int i = 0; i < threads; ++i)
    jobs[i] =
        (Job){.data = memory + i * count, .count = count, .streams = streams};
  return run(jobs, threads, sum);
}
