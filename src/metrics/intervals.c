/* The t distribution is the regularised incomplete beta function, taken from its continued fraction (Abramowitz and
 * Stegun 26.5.8) by Lentz's method; quantiles are found by halving, which needs no starting value. */
#include "metrics/intervals.h"

#include <math.h>

double normal_cdf(double z)
{
    return 0.5 * erfc(-z / sqrt(2.0));
}

/* The continued fraction behind x^a (1-x)^b / (a B(a,b)); converges fast for x < (a+1)/(a+b+2). */
static double beta_fraction(double a, double b, double x)
{
    enum { MOST = 500 };
    const double tiny = 1e-300;
    double c = 1.0;
    double d = 1.0 - (a + b) * x / (a + 1.0);
    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m <= MOST; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0));
        double terms[2] = {even, odd};
        double change = 1.0;
        for (int i = 0; i < 2; i++) {
            d = 1.0 + terms[i] * d;
            d = 1.0 / (fabs(d) < tiny ? tiny : d);
            c = 1.0 + terms[i] / c;
            c = fabs(c) < tiny ? tiny : c;
            change = d * c;
            value *= change;
        }
        if (fabs(change - 1.0) < 1e-15)
            break;
    }
    return value;
}

/* I_x(a, b). */
static double beta_share(double a, double b, double x)
{
    if (x <= 0.0)
        return 0.0;
    if (x >= 1.0)
        return 1.0;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1.0) / (a + b + 2.0))
        return front * beta_fraction(a, b, x) / a;
    return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

double student_cdf(double t, double df)
{
    if (!(df > 0.0))
        return (double)NAN;
    double tail = 0.5 * beta_share(df / 2.0, 0.5, df / (df + t * t));
    return t > 0.0 ? 1.0 - tail : tail;
}

/* df < 0: the normal distribution. */
static double quantile(double p, double df)
{
    if (!(p > 0.0 && p < 1.0))
        return (double)NAN;
    double low = -1.0;
    double high = 1.0;
    while ((df < 0 ? normal_cdf(low) : student_cdf(low, df)) > p && low > -1e15)
        low *= 2.0;
    while ((df < 0 ? normal_cdf(high) : student_cdf(high, df)) < p && high < 1e15)
        high *= 2.0;
    for (int i = 0; i < 200 && high - low > 1e-13 * (1.0 + fabs(low)); i++) {
        double middle = low + (high - low) / 2.0;
        if ((df < 0 ? normal_cdf(middle) : student_cdf(middle, df)) < p)
            low = middle;
        else
            high = middle;
    }
    return low + (high - low) / 2.0;
}

double normal_quantile(double p)
{
    return quantile(p, -1.0);
}

double student_quantile(double p, double df)
{
    return df > 0.0 ? quantile(p, df) : (double)NAN;
}

size_t interval_least_samples(double p, double confidence)
{
    double side = p / 100.0 > 0.5 ? p / 100.0 : 1.0 - p / 100.0;
    double miss = (1.0 - confidence) / 2.0;
    if (side >= 1.0)
        return (size_t)-1; /* minimum and maximum of a distribution have none */
    return (size_t)ceil(log(miss) / log(side));
}
