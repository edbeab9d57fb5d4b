/* Counts are whole, so no step is below 1; large ones are shortened so that they fit beside the axis. */
#include "report/ticks.h"

#include <string.h>

double ticks_step(double length, int most)
{
    static const double STEPS[] = {1, 2, 5};
    double power = 1;
    for (; power < 1e18; power *= 10)
        for (size_t i = 0; i < sizeof(STEPS) / sizeof(STEPS[0]); i++)
            if (length / (STEPS[i] * power) <= most)
                return STEPS[i] * power;
    return power;
}

void ticks_text(double value, double step, char out[NUM_TEXT_MAX])
{
    const char *unit = step >= 1e5 ? "M" : step >= 1e3 ? "k" : "";
    double scale = step >= 1e5 ? 1e6 : step >= 1e3 ? 1e3 : 1.0;
    size_t len = num_format_short(out, value / scale + 0.0); /* never "-0" */
    if (value > 0)
        memcpy(out + len, unit, strlen(unit) + 1);
}
