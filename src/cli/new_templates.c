/* The texts, embedded when the command is built. */
#include "cli/new_templates.h"

#include "cli/template_CMakeLists.txt.h"
#include "cli/template_README.md.h"
#include "cli/template_applet.c.h"
#include "cli/template_applet.caliper.toml.h"
#include "cli/template_applet.h.h"
#include "cli/template_applet_test.c.h"
#include "cli/template_gitignore.h"

const NewTemplate new_templates[] = {
    {false, "CMakeLists.txt", template_CMakeLists_txt},
    {true, ".c", template_applet_c},
    {true, ".h", template_applet_h},
    {true, "_test.c", template_applet_test_c},
    {true, ".caliper.toml", template_applet_caliper_toml},
    {false, "README.md", template_README_md},
    {false, ".gitignore", template_gitignore},
    {0},
};
