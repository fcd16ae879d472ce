/* cli/completion.c: `caliper completion bash|zsh|fish`: prints what a shell needs to complete the
 * command, made from the tables of subcommands and options. First thread. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "render/renderer.h"

static const char levels[] = "debug info warn error";
static const char devices[] = "cpu cuda cuda:0";
static const char shells[] = "bash zsh fish";
/* The ids are in the first column of the lines that do not begin with a blank. */
static const char applets[] = "caliper list 2>/dev/null | sed -n \"s/^\\([^ ][^ ]*\\).*/\\1/p\"";

static void print_renderers(void)
{
    for (const RendererBackend *backend = renderer_backends; backend->name != NULL; backend++)
        printf("%s%s", backend == renderer_backends ? "" : " ", backend->name);
}

/* In single quotes, whatever is inside. */
static void print_quoted(const char *text, const char *quote)
{
    putchar('\'');
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'')
            fputs(quote, stdout);
        else
            putchar(*c);
    }
    putchar('\'');
}

static void print_command_names(const char *between)
{
    for (const CliCommand *command = cli_commands; command->name != NULL; command++)
        printf("%s%s", command == cli_commands ? "" : between, command->name);
}

/* ---- bash ---- */

static void print_bash_reply(CliWord word)
{
    switch (word) {
    case CLI_WORD_FILE:
        puts("compopt -o filenames; COMPREPLY=($(compgen -f -- \"$current\"))");
        break;
    case CLI_WORD_FOLDER:
        puts("compopt -o filenames; COMPREPLY=($(compgen -d -- \"$current\"))");
        break;
    case CLI_WORD_APPLET:
        printf("COMPREPLY=($(compgen -W \"$(%s)\" -- \"$current\"))\n", applets);
        break;
    case CLI_WORD_RENDERER:
        fputs("COMPREPLY=($(compgen -W '", stdout);
        print_renderers();
        puts("' -- \"$current\"))");
        break;
    case CLI_WORD_DEVICE:
    case CLI_WORD_LEVEL:
    case CLI_WORD_SHELL:
        printf("COMPREPLY=($(compgen -W '%s' -- \"$current\"))\n", word == CLI_WORD_DEVICE ? devices
                                                                   : word == CLI_WORD_LEVEL
                                                                       ? levels
                                                                       : shells);
        break;
    default:
        puts(":");
        break;
    }
}

static void print_bash_options(void)
{
    puts("    if [[ $current == -* ]]; then\n        case $command in");
    for (const CliCommand *command = cli_commands; command->name != NULL; command++) {
        printf("        %s%s) options='", command->name, command == cli_commands ? "|''" : "");
        for (const CliOption *option = cli_option_table; option->name != NULL; option++) {
            if (cli_option_is_of(option, command->name))
                printf("%s ", option->name);
        }
        puts("' ;;");
    }
    puts("        esac\n"
         "        COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
         "        return\n"
         "    fi");
}

static void print_bash(void)
{
    puts("# bash completion of caliper; made by `caliper completion bash`.\n"
         "# shellcheck disable=SC2207 # compgen answers a line a word\n"
         "_caliper() {\n"
         "    local current=${COMP_WORDS[COMP_CWORD]} before='' command='' options='' word\n"
         "    ((COMP_CWORD > 0)) && before=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "    COMPREPLY=()\n"
         "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do");
    fputs("        case $word in ", stdout);
    print_command_names("|");
    puts(") command=$word && break ;; esac\n    done\n    case $before in");
    for (const CliOption *option = cli_option_table; option->name != NULL; option++) {
        if (option->argument == NULL)
            continue;
        printf("    %s) ", option->name);
        print_bash_reply(option->word);
        puts("        return ;;");
    }
    puts("    esac");
    print_bash_options();
    fputs("    case $command in\n    '') COMPREPLY=($(compgen -W '", stdout);
    print_command_names(" ");
    puts("' -- \"$current\")) ;;");
    for (const CliCommand *command = cli_commands; command->name != NULL; command++) {
        if (command->word == CLI_WORD_NONE)
            continue;
        printf("    %s) ", command->name);
        print_bash_reply(command->word);
        puts("        ;;");
    }
    puts("    esac\n}\ncomplete -F _caliper caliper");
}

/* ---- zsh ---- */

static void print_zsh_action(CliWord word)
{
    switch (word) {
    case CLI_WORD_FILE:
        fputs("_files", stdout);
        break;
    case CLI_WORD_FOLDER:
        fputs("_files -/", stdout);
        break;
    case CLI_WORD_APPLET:
        fputs("_caliper_applets", stdout);
        break;
    case CLI_WORD_RENDERER:
        putchar('(');
        print_renderers();
        putchar(')');
        break;
    case CLI_WORD_DEVICE:
        fputs("(cpu cuda cuda\\:0)", stdout);
        break;
    case CLI_WORD_LEVEL:
        printf("(%s)", levels);
        break;
    case CLI_WORD_SHELL:
        printf("(%s)", shells);
        break;
    default:
        break;
    }
}

static void print_zsh_option(const CliOption *option)
{
    printf("            '%s%s[", option->name, option->argument != NULL ? "=" : "");
    for (const char *c = option->summary; *c != '\0'; c++) {
        if (*c == '\'')
            fputs("'\\''", stdout);
        else if (*c == '[' || *c == ']')
            printf("\\%c", *c);
        else
            putchar(*c);
    }
    putchar(']');
    if (option->argument != NULL) {
        printf(":%s:", option->argument);
        print_zsh_action(option->word);
    }
    puts("' \\");
}

static void print_zsh(void)
{
    puts("#compdef caliper\n"
         "# zsh completion of caliper; made by `caliper completion zsh`.\n"
         "_caliper_applets() {\n"
         "    local -a found");
    printf("    found=(${(f)\"$(%s)\"})\n", applets);
    puts("    _describe applet found\n"
         "}\n"
         "_caliper() {\n"
         "    local context state state_descr line\n"
         "    typeset -A opt_args\n"
         "    local -a commands\n"
         "    commands=(");
    for (const CliCommand *command = cli_commands; command->name != NULL; command++) {
        char text[256];
        snprintf(text, sizeof text, "%s:%s", command->name, command->summary);
        fputs("        ", stdout);
        print_quoted(text, "'\\''");
        putchar('\n');
    }
    puts("    )\n"
         "    _arguments -C '1: :->command' '*:: :->rest'\n"
         "    case $state in\n"
         "    command) _describe subcommand commands ;;\n"
         "    rest)\n"
         "        case $words[1] in");
    for (const CliCommand *command = cli_commands; command->name != NULL; command++) {
        printf("        %s)\n            _arguments \\\n", command->name);
        for (const CliOption *option = cli_option_table; option->name != NULL; option++) {
            if (cli_option_is_of(option, command->name))
                print_zsh_option(option);
        }
        fputs("            '*: :", stdout);
        print_zsh_action(command->word);
        puts("'\n            ;;");
    }
    puts("        esac ;;\n    esac\n}\n_caliper \"$@\"");
}

/* ---- fish ---- */

static void print_fish_words(CliWord word)
{
    switch (word) {
    case CLI_WORD_FILE:
        fputs(" -F", stdout);
        break;
    case CLI_WORD_FOLDER:
        fputs(" -x -a '(__fish_complete_directories)'", stdout);
        break;
    case CLI_WORD_APPLET:
        fputs(" -x -a ", stdout);
        char text[160];
        snprintf(text, sizeof text, "(%s)", applets);
        print_quoted(text, "\\'");
        break;
    case CLI_WORD_RENDERER:
        fputs(" -x -a '", stdout);
        print_renderers();
        putchar('\'');
        break;
    case CLI_WORD_DEVICE:
    case CLI_WORD_LEVEL:
    case CLI_WORD_SHELL:
        printf(" -x -a '%s'", word == CLI_WORD_DEVICE  ? devices
                              : word == CLI_WORD_LEVEL ? levels
                                                       : shells);
        break;
    case CLI_WORD_FREE:
        fputs(" -x", stdout);
        break;
    default:
        break;
    }
}

static void print_fish(void)
{
    puts("# fish completion of caliper; made by `caliper completion fish`.\n"
         "complete -c caliper -f");
    for (const CliCommand *command = cli_commands; command->name != NULL; command++) {
        printf("complete -c caliper -n __fish_use_subcommand -a %s -d ", command->name);
        print_quoted(command->summary, "\\'");
        putchar('\n');
        if (command->word == CLI_WORD_NONE)
            continue;
        printf("complete -c caliper -n '__fish_seen_subcommand_from %s'", command->name);
        print_fish_words(command->word);
        putchar('\n');
    }
    for (const CliOption *option = cli_option_table; option->name != NULL; option++) {
        fputs("complete -c caliper", stdout);
        if (option->commands != NULL)
            printf(" -n '__fish_seen_subcommand_from %s'", option->commands);
        printf(" -l %s -d ", option->name + 2);
        print_quoted(option->summary, "\\'");
        if (option->argument != NULL) {
            fputs(" -r", stdout);
            print_fish_words(option->word);
        }
        putchar('\n');
    }
}

int cli_completion(CliOptions *options)
{
    const char *shell = options->word_count == 1 ? options->words[0] : "";
    if (strcmp(shell, "bash") == 0)
        print_bash();
    else if (strcmp(shell, "zsh") == 0)
        print_zsh();
    else if (strcmp(shell, "fish") == 0)
        print_fish();
    else
        return cli_usage("completion: given \"%s\", wanted bash, zsh or fish", shell);
    return 0;
}
