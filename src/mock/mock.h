/* mock.h - an OpenAI-compatible server with exact timing: the demo's default target and the tests' double.
 * Use: mock_options_init; mock_start (threads inside this process) ... mock_stop; or mock_serve, which blocks until a
 * signal.  `truth` of every request is kept on demand (GET /truth).
 * Threads: a server owns its threads; start and stop from one thread.  Errors: struct error. */
#ifndef VB_MOCK_MOCK_H
#define VB_MOCK_MOCK_H

#include "base/error.h"
#include "base/sv.h"

#include <stdint.h>

struct mock_options; /* defined by the module: all settings of `vllm-bench mock-server` */
struct mock_server;

#endif
