/* page_files.h - the parts of the timeline's page, built into the program from the files of the same names.
 * Threads: safe.  Errors: none. */
#ifndef VB_REPORT_PAGE_FILES_H
#define VB_REPORT_PAGE_FILES_H

#include "base/sv.h"

struct sv page_template(void);
struct sv page_style(void);
struct sv page_script(void);

#endif
