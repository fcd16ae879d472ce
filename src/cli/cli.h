/* cli/cli.h: the `caliper` command: options and subcommands, one file each. Two tables say what
 * there is (commands.c, option_table.c); help, the man page and the shells' completions are made
 * from them.
 *
 * Only main.c and cli/ include it. Exit statuses: 0 done; 1 something failed, with a log line; 2
 * the command line was not understood, with one line that says what. First thread of the process.
 */
#ifndef CALIPER_CLI_CLI_H
#define CALIPER_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/raw_layout.h"
#include "shell/shell.h"

enum { CLI_DIRS_MAX = 32, CLI_WORDS_MAX = 64, CLI_USAGE = 2 };

typedef struct CliOptions {
    ShellParams shell;
    const char *dirs[CLI_DIRS_MAX + 1];
    const char *words[CLI_WORDS_MAX + 1]; /* what is not an option, after the subcommand */
    int32_t word_count;
    bool json, help, version;
    bool force;                /* convert: replace a file that is there */
    const char *tensor;        /* info, convert: one array of a file; NULL: all */
    const char *raw;           /* as given; NULL: the files say what they are */
    ArrayRawLayout raw_layout; /* read from it */
    const char *dir, *id;      /* new: where, and the applet's id; NULL: here, org.example.NAME */
    bool csv;                  /* sql: the form of the answer */
    bool metrics;              /* sql: on what runs logged */
    bool has_log_level;        /* --log-level was given */
    const char *experiment;    /* import: NULL: the folder's name */
    bool dry_run;              /* artifacts gc: only say */
    const char *table;         /* export: what of it; NULL: the scalars */
    bool has_run;              /* --run was given */
    uint64_t run;              /* artifacts list: of this run alone */
} CliOptions;

/* Reads everything after the subcommand. False after one line on stderr. */
bool cli_options_read(CliOptions *options, int argc, char **argv);
/* One line on stderr, "caliper: ...", in which texts from outside are escaped (cli/printable.h);
 * returns CLI_USAGE. */
__attribute__((format(printf, 1, 2))) int cli_usage(const char *format, ...);
/* The same with status 1, for what was understood and failed. */
__attribute__((format(printf, 1, 2))) int cli_failed(const char *format, ...);

/* What a shell can complete a word with. */
typedef enum CliWord {
    CLI_WORD_NONE = 0,
    CLI_WORD_FREE, /* anything; nothing to complete */
    CLI_WORD_FILE,
    CLI_WORD_FOLDER,
    CLI_WORD_APPLET,
    CLI_WORD_RENDERER,
    CLI_WORD_DEVICE,
    CLI_WORD_LEVEL,
    CLI_WORD_SHELL
} CliWord;

typedef struct CliCommand {
    const char *name;
    const char *arguments; /* for help */
    const char *summary;
    int (*run)(CliOptions *options);
    CliWord word; /* of what follows */
} CliCommand;

/* Ended by a NULL name; the first, without a name in the command line, is home. */
extern const CliCommand cli_commands[];

typedef struct CliOption {
    const char *name;     /* with its dashes */
    const char *argument; /* NULL: a flag */
    const char *commands; /* "home view run": whose it is; NULL: all */
    const char *summary;
    bool (*read)(CliOptions *options, const char *text); /* text NULL for a flag */
    const char *wanted;                                  /* of the argument, for usage errors */
    CliWord word;
} CliOption;

/* Ended by a NULL name. */
extern const CliOption cli_option_table[];
/* Whether an option belongs to a subcommand. */
bool cli_option_is_of(const CliOption *option, const char *command);

int cli_home(CliOptions *options);
int cli_view(CliOptions *options);
int cli_run(CliOptions *options);
int cli_dev(CliOptions *options);
int cli_check(CliOptions *options);
int cli_list(CliOptions *options);
int cli_doctor(CliOptions *options);
int cli_info(CliOptions *options);
int cli_convert(CliOptions *options);
int cli_new(CliOptions *options);
int cli_artifacts(CliOptions *options);
int cli_sql(CliOptions *options);
int cli_runs(CliOptions *options);
int cli_export(CliOptions *options);
int cli_import(CliOptions *options);
int cli_fetch(CliOptions *options);
int cli_completion(CliOptions *options);
int cli_manual(CliOptions *options);
/* Of one subcommand; NULL: of all. */
int cli_help(const CliCommand *command);
int cli_version(void);

int cli_main(int argc, char **argv);

#endif
