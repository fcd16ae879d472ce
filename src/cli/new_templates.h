/* cli/new_templates.h: the files of a new applet, from src/cli/templates/. For new.c. */
#ifndef CALIPER_CLI_NEW_TEMPLATES_H
#define CALIPER_CLI_NEW_TEMPLATES_H

#include <stdbool.h>

typedef struct NewTemplate {
    bool is_named; /* the file's name starts with the applet's */
    const char *file_name;
    const unsigned char *text;
} NewTemplate;

/* Ended by a NULL name. */
extern const NewTemplate new_templates[];

#endif
