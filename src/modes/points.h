/* points.h - a list of runs that a mode arranges: each is measured, saved, shown, judged, and kept as its result object.
 * Use: points_init; points_add for each; points_run; read `result` of every point (NULL: not measured); points_finish.
 * A single run is a list of one.  After an interruption or an error that further runs would meet as well no run is
 * begun any more; a run without a completed request or with a gate not met does not stop the others.
 * Threads: main thread only.  Errors: points_finish gives the gravest. */
#ifndef VB_MODES_POINTS_H
#define VB_MODES_POINTS_H

#include <time.h>

#include "json/tree.h"
#include "modes/session.h"

struct points;

struct point {
    struct config config; /* of this run; borrows from the base */
    const char *banner;   /* printed above it; NULL: none */
    const char *label;    /* "concurrency=4"; NULL: the only run */
    const char *path;     /* where it was saved; NULL: it was not */
    const char *suffix;   /* of its pictures, where all results go into one file; NULL: none */
    const struct js_value *result;
    bool reused; /* taken from a file, --resume */
    bool interrupted;
};

/* Measures one point: fills result, path, interrupted.  False: the run failed (result may be there all the same). */
typedef bool points_measure_fn(struct points *points, struct point *point, struct error *err);

struct points {
    struct session *session;
    const struct config *base;
    points_measure_fn *measure;
    struct arena arena;
    struct point *items;
    size_t count;
    size_t cap;
    time_t date; /* of all; 0: each its own */
    unsigned
        summary_number; /* in the names of the files about all, where the name was taken; 0: none */
    bool parts; /* more than one run belongs together: results carry a hash of their settings */
    bool failed;
    bool stopped; /* no further run was begun */
    struct error gravest;
};

/* NULL measures single runs. */
void points_init(struct points *p, struct session *session, points_measure_fn *measure);
/* A copy of the base settings to be changed; the pointer dies at the next points_add. */
struct point *points_add(struct points *p);
/* --result-filename, or the automatic name, with `suffix` before its extension. */
void points_suffix(struct points *p, struct point *point, const char *suffix);
void points_run(struct points *p);
/* The date of all of them as it stands in results. */
void points_date(const struct points *p, char out[16]);
/* Writes a file about all of them when results are saved: the base's name, with `suffix` for the end of it ("-sweep.csv"
 * and so on).  What cannot be written there is kept elsewhere, as results are, and the error joins the others. */
void points_save(struct points *p, const char *suffix, struct sv content);
bool points_finish(struct points *p, struct error *err);

/* Writes a result object as --save-result and --append-result say; sets point->path. */
struct run_report;
bool points_write(struct points *p, struct point *point, const struct run_report *report,
                  struct sv json, struct error *err);
/* Draws the run as --plot-timeline and --plot-dataset-stats say, after its result was written; what fails is only warned
 * of.  `talks`: conversations; NULL: single requests. */
struct timeline_talks;
void points_plot(struct points *p, const struct point *point, const struct run_report *report,
                 const struct timeline_talks *talks);
/* What every kind of measurement does at its end: keeps the object, and judges the gates. */
bool points_keep(struct points *p, struct point *point, struct sv json, struct error *err);
void points_note_error(struct points *p, const struct error *err);

#endif
