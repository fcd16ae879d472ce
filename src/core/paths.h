/* core/paths.h: where things are kept. Paths returned are malloc'ed, absolute and the caller's; a
 * failure is NULL (or false) and one log line. Any thread; files of src/ may include it. */
#ifndef CALIPER_CORE_PATHS_H
#define CALIPER_CORE_PATHS_H

#include <stdbool.h>

/* The data root: `wanted`, else CALIPER_DATA_DIR, else the platform's place
 * ($XDG_DATA_HOME/caliper,
 * ~/.local/share/caliper). NULL and "" mean not given. Makes it with `applets/` and `data/`. */
char *paths_data_root(const char *wanted);

/* <data root>/data/<applet id>, made. `applet_id` passed ids_applet_valid. */
char *paths_applet_data(const char *data_root, const char *applet_id);

/* The built-in applets of this installation: <exe dir>/../lib/caliper/applets or, when that is not
 * there, <exe dir>/lib/caliper/applets. NULL without a line when neither exists. */
char *paths_builtin_applets(void);

/* `folder`/`name`; NULL only without memory. */
char *paths_join(const char *folder, const char *name);

/* Makes a folder and its parents (mode 0700, as the XDG base directory specification asks). */
bool paths_make_folder(const char *path);

bool paths_is_folder(const char *path);

#endif
