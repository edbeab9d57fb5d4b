/* Adapters over requests: in turn, or by random.choice (ORCHESTRATION 9). */
#include "load/lora.h"

#include "base/alloc.h"

uint32_t *lora_assign(const struct config *config, struct mt19937 *py, size_t count)
{
    uint32_t *of = mem_array(count, sizeof(*of));
    size_t modules = config->lora_modules.count;
    for (size_t i = 0; i < count; i++)
        of[i] = (uint32_t)(config->lora_round_robin ? i % modules : py_choice(py, modules));
    return of;
}
