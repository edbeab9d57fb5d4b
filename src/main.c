/* The program: hands argv to cli, whose answer is the exit status. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
    return cli_main(argc, argv);
}
