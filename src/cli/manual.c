/* cli/manual.c: `caliper manual`: the man page, caliper(1), made from the tables of subcommands and
 * options and from the prose below. First thread. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

/* Text as roff: a dash is a dash, a leading point or quote is text. */
static void print_text(const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '-')
            fputs("\\-", stdout);
        else if (*c == '\\')
            fputs("\\e", stdout);
        else
            putchar(*c);
    }
}

/* The same as a sentence. */
static void print_sentence(const char *text)
{
    if (*text >= 'a' && *text <= 'z' && strncmp(text, "cpu", 3) != 0 && strchr(text, ',') == NULL)
        putchar(*text++ - 'a' + 'A');
    print_text(text);
    puts(".");
}

static void print_commands(void)
{
    puts(".SH SUBCOMMANDS");
    for (const CliCommand *command = cli_commands; command->name != NULL; command++) {
        printf(".TP\n\\fB%s\\fR ", command->name);
        print_text(command->arguments);
        putchar('\n');
        print_sentence(command->summary);
    }
}

static void print_options(void)
{
    puts(".SH OPTIONS\nValues follow after a blank or an equals sign. \\fB\\-\\-\\fR ends the "
         "options.");
    const char *group = "";
    for (const CliOption *option = cli_option_table; option->name != NULL; option++) {
        const char *commands = option->commands != NULL ? option->commands : "all";
        if (strcmp(group, commands) != 0)
            printf(".SS Of %s\n", commands);
        group = commands;
        fputs(".TP\n\\fB", stdout);
        print_text(option->name);
        fputs("\\fR", stdout);
        if (option->argument != NULL)
            printf(" \\fI%s\\fR", option->argument);
        putchar('\n');
        print_sentence(option->summary);
        if (option->wanted != NULL) {
            fputs("Wanted: ", stdout);
            print_text(option->wanted);
            puts(".");
        }
    }
}

static const char raw_files[] =
    ".SH RAW FILES\n"
    "\\fB\\-\\-raw\\fR says how bytes without a header are laid out, first axis outermost:\n"
    ".PP\n"
    ".in +4n\n"
    "\\fITYPE\\fR:\\fIEXTENT\\fRx\\fIEXTENT\\fR...[:\\fIOFFSET\\fR][:big|:little]\n"
    ".in\n"
    ".PP\n"
    "\\fITYPE\\fR is one of f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool. The first\n"
    "\\fIEXTENT\\fR may be ?: as many as the file holds. \\fIOFFSET\\fR is how many bytes come\n"
    "before the first element. Little\\-endian is the default.\n";

static const char results[] =
    ".SH INFO\n"
    "\\fBcaliper info \\-\\-json\\fR prints one object: file, format, and tensors, each with\n"
    "name, shape, dtype, min, max, nan and inf. Every element is read. min and max are over\n"
    "finite values alone and exact: integers as integers, floats as the shortest decimal that\n"
    "reads back as the same number, null where there is none. A file that cannot be read is\n"
    "status 1 and one line on the standard error.\n"
    ".SH CONVERT\n"
    "The ending of \\fIOUT\\fR says the format: .npy, .npz, .safetensors, .idx, .png, .raw\n"
    "or .bin. What the format cannot hold without a loss is refused with the reason, before a "
    "byte\n"
    "is written. bf16, which .npy does not have, becomes f32, which holds each value exactly.\n"
    "The file appears whole or not at all; one that is there is replaced with \\fB\\-\\-force\\fR\n"
    "alone.\n";

static const char rest[] =
    ".SH EXIT STATUS\n"
    ".TP\n0\nDone.\n"
    ".TP\n1\nFailed; one line says why.\n"
    ".TP\n2\nThe command line was not understood; one line says what was given and wanted.\n"
    ".SH FILES\n"
    ".TP\n\\fI$XDG_DATA_HOME/caliper\\fR, else \\fI~/.local/share/caliper\\fR\n"
    "Applets of your own and the data that is kept.\n"
    ".SH EXAMPLES\n"
    ".TP\n\\fBcaliper view weights.safetensors\\fR\nLook at it; a file that changes is read "
    "again.\n"
    ".TP\n\\fBcaliper view frame.bin \\-\\-raw u16:480x640:64:big\\fR\n"
    "A camera's picture behind 64 bytes of its own.\n"
    ".TP\n\\fBcaliper info model.safetensors \\-\\-json\\fR\nWhat is in it, for a program.\n"
    ".TP\n\\fBcaliper convert model.safetensors fc.npy \\-\\-tensor fc.weight\\fR\n"
    "One array for NumPy.\n"
    ".TP\n\\fBcaliper \\-\\-headless \\-\\-frames 3 \\-\\-screenshot home.png\\fR\n"
    "A picture without a display.\n";

int cli_manual(CliOptions *options)
{
    if (options->word_count > 0)
        return cli_usage("manual takes no names, given \"%s\"", options->words[0]);
    printf(".TH CALIPER 1 \"\" \"caliper %d.%d.%d\" \"User Commands\"\n", CALIPER_VERSION_MAJOR,
           CALIPER_VERSION_MINOR, CALIPER_VERSION_PATCH);
    puts(".SH NAME\ncaliper \\- tensors as live textures\n"
         ".SH SYNOPSIS\n\\fBcaliper\\fR [\\fISUBCOMMAND\\fR] [\\fIOPTIONS\\fR]\n"
         ".SH DESCRIPTION\n"
         "Caliper shows tensors, wherever they live, as pictures of the same frame. Its applets\n"
         "are opened in its window, or drawn into a file where there is no display. Without a\n"
         "subcommand the home page opens.");
    print_commands();
    print_options();
    fputs(raw_files, stdout);
    fputs(results, stdout);
    fputs(rest, stdout);
    return 0;
}
