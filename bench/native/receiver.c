// Reads the events of many WebSockets in one thread, and reports for each post when every socket had it. It replaces
// the receivers in Node (bench/generator/receivers.ts), which need so much CPU per frame that they limit a fan-out.
//
// stdin: lines of `key value` as bench/lib/receiver-protocol.ts writes them, then `go`; later `stop`, which asks for the
// report. The end of stdin ends the program.
//
// stdout: records with a header of 16 bytes in the machine's byte order:
//   ready   all sockets are registered
//   post    every socket has seen the post `value`; then one u32 per socket, in the order of arrival: microseconds
//           after `ns`, the time of the first (CLOCK_MONOTONIC)
//   report  `value` bytes of JSON
//
// A post is found by the digits of its marker in the text of a frame; a typing notice also has an `op`, which comes
// before the marker. Frames are those of a server without extensions and fragments; any other ends the program.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// Bounds.
enum {
  SOCKETS_MAX = 60000,
  POSTS_MAX = 2000000,
  LIST_MAX = 4096,
  LINE_BYTES_MAX = 65536,
  FRAME_BYTES_MAX = 16 * 1024 * 1024,
  READ_BYTES = 256 * 1024,
  HANDSHAKE_BYTES_MAX = 8192,
  HANDSHAKES_AT_ONCE = 64,
  OUTPUT_BYTES = 1024 * 1024,
  CLOSE_TEXT_BYTES = 200,
  EVENTS_AT_ONCE = 512,
};
// Memory of the posts that some sockets have seen and some have not.
static const uint64_t OPEN_BYTES_MAX = 512ull * 1024 * 1024;

// The marker: "bm", eight digits, "x" (bench/lib/http-request.ts).
enum { MARKER_DIGITS = 8, MARKER_BYTES = 2 + MARKER_DIGITS + 1 };
static const uint64_t MARKERS_MAX = 100000000;

enum record_kind { RECORD_READY = 1, RECORD_POST = 2, RECORD_REPORT = 3 };
enum opcode { OP_TEXT = 1, OP_CLOSE = 8, OP_PING = 9, OP_PONG = 10 };
enum state { ABSENT, CONNECTING, UPGRADING, REGISTERING, LIVE, LOST };

struct list {
  char *items[LIST_MAX];
  size_t count;
};

struct receiver {
  int fd;
  enum state state;
  // Bytes of a frame, or of the handshake's answer, that is not complete yet.
  uint8_t *partial;
  size_t partial_bytes, partial_room;
  char *queue_id;
};

struct post {
  uint8_t *seen;
  uint32_t *arrivals;
  uint64_t first_ns;
  uint32_t count;
  bool complete;
};

static struct {
  char host[64], path[512], register_frame[LINE_BYTES_MAX];
  struct list ports;
  uint32_t count;
  // The number of the first socket in the run, which other programs may share.
  uint32_t first_socket;
  uint64_t first_marker;
  bool is_typing;
  struct list authorizations, addresses;
} config;

static struct receiver *receivers;
static struct post *posts;
static uint32_t started, live, lost;
static uint64_t frames, bytes, duplicates, open_posts, open_bytes;
static char first_close[CLOSE_TEXT_BYTES];
static int poller;
static uint8_t output[OUTPUT_BYTES];
static size_t output_bytes;

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  vfprintf(stderr, format, rest);
  va_end(rest);
  fputc('\n', stderr);
  exit(1);
}

static void *need(void *memory) {
  if (memory == NULL) fail("out of memory");
  return memory;
}

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// ---- output

static void flush_output(void) {
  for (size_t at = 0; at < output_bytes;) {
    ssize_t written = write(STDOUT_FILENO, output + at, output_bytes - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) exit(0);  // The parent has gone.
    at += (size_t)written;
  }
  output_bytes = 0;
}

static void put(const void *data, size_t length) {
  for (size_t at = 0; at < length;) {
    if (output_bytes == OUTPUT_BYTES) flush_output();
    size_t part = OUTPUT_BYTES - output_bytes;
    if (part > length - at) part = length - at;
    memcpy(output + output_bytes, (const uint8_t *)data + at, part);
    output_bytes += part;
    at += part;
  }
}

static void put_header(enum record_kind kind, uint32_t value, uint64_t ns) {
  uint32_t head[2] = {kind, value};
  put(head, sizeof head);
  put(&ns, sizeof ns);
}

// ---- posts

static void see(uint64_t number, uint32_t receiver, uint64_t ns) {
  if (number >= POSTS_MAX) return;
  struct post *post = &posts[number];
  if (post->complete) {
    duplicates += 1;
    return;
  }
  size_t post_bytes = config.count * sizeof(uint32_t) + (config.count + 7) / 8;
  if (post->seen == NULL) {
    open_bytes += post_bytes;
    if (open_bytes > OPEN_BYTES_MAX) fail("too many posts have been seen by some sockets and not by all");
    post->seen = need(calloc(1, (config.count + 7) / 8));
    post->arrivals = need(malloc(config.count * sizeof(uint32_t)));
    post->first_ns = ns;
    open_posts += 1;
  }
  uint8_t bit = (uint8_t)(1u << (receiver & 7));
  if ((post->seen[receiver >> 3] & bit) != 0) {
    duplicates += 1;
    return;
  }
  post->seen[receiver >> 3] |= bit;
  post->arrivals[post->count] = (uint32_t)((ns - post->first_ns) / 1000);
  post->count += 1;
  if (post->count < config.count) return;
  put_header(RECORD_POST, (uint32_t)number, post->first_ns);
  put(post->arrivals, config.count * sizeof(uint32_t));
  free(post->seen);
  free(post->arrivals);
  post->seen = NULL;
  post->arrivals = NULL;
  post->complete = true;
  open_posts -= 1;
  open_bytes -= post_bytes;
}

// The number in the marker at `at`, or -1 if there is none.
static int64_t read_marker(const uint8_t *at) {
  if (at[MARKER_BYTES - 1] != 'x') return -1;
  int64_t value = 0;
  for (int index = 2; index < 2 + MARKER_DIGITS; index += 1) {
    if (at[index] < '0' || at[index] > '9') return -1;
    value = value * 10 + (at[index] - '0');
  }
  return value;
}

static void scan(uint32_t receiver, const uint8_t *text, size_t length, uint64_t ns) {
  static const char op_name[] = "\"op\":\"";
  const uint8_t *end = text + length;
  const uint8_t *next_op = config.is_typing ? memmem(text, length, op_name, sizeof op_name - 1) : NULL;
  bool is_stop = false;
  for (const uint8_t *at = memmem(text, length, "bm", 2); at != NULL && end - at >= MARKER_BYTES;
       at = memmem(at + 2, (size_t)(end - at - 2), "bm", 2)) {
    int64_t marker = read_marker(at);
    if (marker < 0) continue;
    while (next_op != NULL && next_op < at) {
      const uint8_t *value = next_op + sizeof op_name - 1;
      is_stop = end - value > 3 && memcmp(value, "sto", 3) == 0;
      next_op = memmem(value, (size_t)(end - value), op_name, sizeof op_name - 1);
    }
    uint64_t in_this_run = ((uint64_t)marker + MARKERS_MAX - config.first_marker) % MARKERS_MAX;
    see(config.is_typing ? in_this_run * 2 + is_stop : in_this_run, receiver, ns);
  }
}

// ---- sockets

static void watch(struct receiver *receiver, int operation, uint32_t events) {
  struct epoll_event event = {.events = events, .data.u32 = (uint32_t)(receiver - receivers)};
  if (epoll_ctl(poller, operation, receiver->fd, &event) < 0) fail("epoll_ctl: %s", strerror(errno));
}

static void lose(struct receiver *receiver, const char *reason) {
  if (receiver->state != LIVE) fail("a socket was rejected: %s", reason);
  receiver->state = LOST;
  close(receiver->fd);
  lost += 1;
  if (first_close[0] == '\0') snprintf(first_close, sizeof first_close, "%s", reason);
}

static void send_all(struct receiver *receiver, const void *data, size_t length) {
  // What is sent is far smaller than a socket's empty buffer.
  if (send(receiver->fd, data, length, MSG_NOSIGNAL) != (ssize_t)length) lose(receiver, strerror(errno));
}

// The mask is zero: the payload is sent as it is.
static void send_frame(struct receiver *receiver, enum opcode opcode, const void *payload, size_t length) {
  uint8_t frame[8 + LINE_BYTES_MAX] = {(uint8_t)(0x80 | opcode)};
  size_t head = 2;
  if (length < 126) {
    frame[1] = (uint8_t)(0x80 | length);
  } else {
    frame[1] = 0x80 | 126;
    frame[2] = (uint8_t)(length >> 8);
    frame[3] = (uint8_t)length;
    head = 4;
  }
  memcpy(frame + head + 4, payload, length);
  send_all(receiver, frame, head + 4 + length);
}

static int port_of(size_t socket_number) {
  return atoi(config.ports.items[socket_number % config.ports.count]);
}

static void start_next(void) {
  if (started == config.count) return;
  struct receiver *receiver = &receivers[started];
  receiver->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (receiver->fd < 0) fail("socket: %s", strerror(errno));
  int on = 1;
  setsockopt(receiver->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET};
  if (config.addresses.count > 0) {
    setsockopt(receiver->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    const char *local = config.addresses.items[(config.first_socket + started) % config.addresses.count];
    inet_pton(AF_INET, local, &address.sin_addr);
    if (bind(receiver->fd, (struct sockaddr *)&address, sizeof address) < 0) fail("bind: %s", strerror(errno));
  }
  address.sin_port = htons((uint16_t)port_of(config.first_socket + started));
  if (inet_pton(AF_INET, config.host, &address.sin_addr) != 1) fail("no IPv4 address: %s", config.host);
  if (connect(receiver->fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS) {
    fail("connect: %s", strerror(errno));
  }
  receiver->state = CONNECTING;
  started += 1;
  watch(receiver, EPOLL_CTL_ADD, EPOLLOUT);
}

static void upgrade(struct receiver *receiver) {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(receiver->fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) fail("a socket was rejected: %s", strerror(error));
  size_t index = config.first_socket + (size_t)(receiver - receivers);
  const char *authorization =
      config.authorizations.count == 0 ? "" : config.authorizations.items[index % config.authorizations.count];
  char request[LINE_BYTES_MAX];
  int length = snprintf(request, sizeof request,
                        "GET %s HTTP/1.1\r\nHost: %s:%d\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n%s%s%s\r\n",
                        config.path, config.host, port_of(index), authorization[0] == '\0' ? "" : "Authorization: ",
                        authorization, authorization[0] == '\0' ? "" : "\r\n");
  watch(receiver, EPOLL_CTL_MOD, EPOLLIN);
  receiver->state = UPGRADING;
  send_all(receiver, request, (size_t)length);
}

// The value of a string field of a small JSON text without escapes, in memory of its own; NULL if there is none.
static char *copy_field(const char *text, size_t length, const char *name) {
  const char *from = memmem(text, length, name, strlen(name));
  if (from == NULL) return NULL;
  from += strlen(name);
  const char *to = memchr(from, '"', (size_t)(text + length - from));
  return to == NULL ? NULL : need(strndup(from, (size_t)(to - from)));
}

static bool is_there(const char *text, size_t length, const char *part) {
  return memmem(text, length, part, strlen(part)) != NULL;
}

static void on_reply(struct receiver *receiver, const char *text, size_t length) {
  if (!is_there(text, length, "\"ref\":\"register\"")) return;
  if (!is_there(text, length, "\"result\":\"success\"")) {
    fail("a registration was rejected: %.*s", (int)(length > 300 ? 300 : length), text);
  }
  receiver->queue_id = copy_field(text, length, "\"queue_id\":\"");
  receiver->state = LIVE;
  live += 1;
  start_next();
  if (live < config.count) return;
  put_header(RECORD_READY, 0, 0);
}

static void on_frame(struct receiver *receiver, uint8_t first, const uint8_t *payload, size_t length, uint64_t ns) {
  enum opcode opcode = first & 0x0f;
  if (opcode == OP_PING) return send_frame(receiver, OP_PONG, payload, length);
  if (opcode == OP_CLOSE) {
    char reason[CLOSE_TEXT_BYTES] = "close without a code";
    if (length >= 2) {
      int code = payload[0] << 8 | payload[1];
      snprintf(reason, sizeof reason, "close %d %.*s", code, (int)(length - 2), (const char *)payload + 2);
    }
    return lose(receiver, reason);
  }
  if (opcode == OP_PONG) return;
  if (first != (0x80 | OP_TEXT)) fail("a frame begins with %#x: only whole text frames are understood", first);
  if (receiver->state == REGISTERING) return on_reply(receiver, (const char *)payload, length);
  frames += 1;
  bytes += length;
  scan((uint32_t)(receiver - receivers), payload, length, ns);
}

// Handles every whole frame at the start of `data`. Returns the number of bytes used.
static size_t read_frames(struct receiver *receiver, const uint8_t *data, size_t length, uint64_t ns) {
  size_t at = 0;
  while (length - at >= 2 && receiver->state != LOST) {
    const uint8_t *frame = data + at;
    size_t head = 2;
    uint64_t payload = frame[1] & 0x7f;
    if (frame[1] & 0x80) fail("the server masked a frame");
    if (payload >= 126) {
      size_t size_bytes = payload == 126 ? 2 : 8;
      head += size_bytes;
      if (length - at < head) break;
      payload = 0;
      for (size_t index = 0; index < size_bytes; index += 1) payload = payload << 8 | frame[2 + index];
    }
    if (payload > FRAME_BYTES_MAX) fail("a frame of %llu bytes", (unsigned long long)payload);
    if (length - at < head + payload) break;
    on_frame(receiver, frame[0], frame + head, payload, ns);
    at += head + payload;
  }
  return at;
}

// Handles the answer to the handshake. Returns the number of bytes used; 0 if it is incomplete.
static size_t read_handshake(struct receiver *receiver, const uint8_t *data, size_t length) {
  const uint8_t *end = memmem(data, length, "\r\n\r\n", 4);
  if (end == NULL) {
    if (length > HANDSHAKE_BYTES_MAX) fail("the answer to a handshake has no end");
    return 0;
  }
  if (length < 12 || memcmp(data + 8, " 101", 4) != 0) {
    const uint8_t *line = memchr(data, '\r', length);
    fail("a socket was rejected: refused: %.*s", (int)(line - data), (const char *)data);
  }
  receiver->state = REGISTERING;
  send_frame(receiver, OP_TEXT, config.register_frame, strlen(config.register_frame));
  return (size_t)(end + 4 - data);
}

static size_t consume(struct receiver *receiver, const uint8_t *data, size_t length, uint64_t ns) {
  size_t used = 0;
  if (receiver->state == UPGRADING) {
    used = read_handshake(receiver, data, length);
    if (used == 0) return 0;
  }
  return used + read_frames(receiver, data + used, length - used, ns);
}

static void keep_partial(struct receiver *receiver, const uint8_t *data, size_t length) {
  if (receiver->partial_room < length) {
    receiver->partial_room = length * 2;
    receiver->partial = need(realloc(receiver->partial, receiver->partial_room));
  }
  memmove(receiver->partial, data, length);
  receiver->partial_bytes = length;
}

static void on_readable(struct receiver *receiver) {
  static uint8_t shared[READ_BYTES];
  ssize_t got = recv(receiver->fd, shared, sizeof shared, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return lose(receiver, got == 0 ? "the server closed the connection" : strerror(errno));
  uint64_t ns = now_ns();
  const uint8_t *data = shared;
  size_t length = (size_t)got;
  if (receiver->partial_bytes > 0) {
    size_t whole = receiver->partial_bytes + length;
    if (receiver->partial_room < whole) {
      receiver->partial_room = whole * 2;
      receiver->partial = need(realloc(receiver->partial, receiver->partial_room));
    }
    memcpy(receiver->partial + receiver->partial_bytes, shared, length);
    data = receiver->partial;
    length = whole;
  }
  size_t used = consume(receiver, data, length, ns);
  if (receiver->state == LOST) return;
  if (used == length) receiver->partial_bytes = 0;
  else keep_partial(receiver, data + used, length - used);
}

// ---- the parent

static void put_json_text(FILE *file, const char *text) {
  fputc('"', file);
  for (const char *at = text; *at != '\0'; at += 1) {
    if (*at == '"' || *at == '\\' || (unsigned char)*at < 32) fprintf(file, "\\u%04x", (unsigned char)*at);
    else fputc(*at, file);
  }
  fputc('"', file);
}

static void report(void) {
  char *text = NULL;
  size_t length = 0;
  FILE *file = need(open_memstream(&text, &length));
  fprintf(file, "{\"frames\":%llu,\"bytes\":%llu,\"duplicates\":%llu,\"open\":%llu,\"lost\":%u,\"firstClose\":",
          (unsigned long long)frames, (unsigned long long)bytes, (unsigned long long)duplicates,
          (unsigned long long)open_posts, lost);
  put_json_text(file, first_close);
  fprintf(file, ",\"samples\":[],\"queues\":[");
  const char *separator = "";
  for (uint32_t index = 0; index < config.count; index += 1) {
    if (receivers[index].queue_id == NULL) continue;
    fprintf(file, "%s[%u,", separator, config.first_socket + index);
    put_json_text(file, receivers[index].queue_id);
    fputc(']', file);
    separator = ",";
  }
  fprintf(file, "]}");
  fclose(file);
  put_header(RECORD_REPORT, (uint32_t)length, 0);
  put(text, length);
  flush_output();
}

static void append(struct list *list, const char *value) {
  if (list->count == LIST_MAX) fail("more than %d values of one key", LIST_MAX);
  list->items[list->count] = need(strdup(value));
  list->count += 1;
}

static void configure(const char *key, const char *value) {
  if (strcmp(key, "host") == 0) snprintf(config.host, sizeof config.host, "%s", value);
  else if (strcmp(key, "port") == 0) append(&config.ports, value);
  else if (strcmp(key, "path") == 0) snprintf(config.path, sizeof config.path, "%s", value);
  else if (strcmp(key, "count") == 0) config.count = (uint32_t)strtoul(value, NULL, 10);
  else if (strcmp(key, "first-socket") == 0) config.first_socket = (uint32_t)strtoul(value, NULL, 10);
  else if (strcmp(key, "first-marker") == 0) config.first_marker = strtoull(value, NULL, 10);
  else if (strcmp(key, "decoder") == 0) config.is_typing = strcmp(value, "typing") == 0;
  else if (strcmp(key, "register") == 0) snprintf(config.register_frame, sizeof config.register_frame, "%s", value);
  else if (strcmp(key, "authorization") == 0) append(&config.authorizations, value);
  else if (strcmp(key, "local-address") == 0) append(&config.addresses, value);
  else fail("unknown key %s", key);
}

// Reads up to `go`, without stdio's buffer, which would hide a `stop` from the poller.
static void read_configuration(void) {
  static char line[LINE_BYTES_MAX];
  for (;;) {
    size_t length = 0;
    for (;;) {
      char character;
      if (read(STDIN_FILENO, &character, 1) != 1) exit(0);
      if (character == '\n') break;
      if (length == sizeof line - 1) fail("a line of the configuration is too long");
      line[length++] = character;
    }
    line[length] = '\0';
    if (strcmp(line, "go") == 0) return;
    char *space = strchr(line, ' ');
    if (space == NULL) fail("no value: %s", line);
    *space = '\0';
    configure(line, space + 1);
  }
}

// Anything after `go` asks for the report.
static void on_parent(void) {
  char text[16];
  if (read(STDIN_FILENO, text, sizeof text) > 0) report();
  exit(0);
}

static void on_event(struct epoll_event *event) {
  if (event->data.u32 == UINT32_MAX) on_parent();
  struct receiver *receiver = &receivers[event->data.u32];
  if (receiver->state == LOST) return;
  if (receiver->state == CONNECTING) upgrade(receiver);
  else on_readable(receiver);
}

int main(void) {
  read_configuration();
  if (config.count == 0 || config.count > SOCKETS_MAX) fail("count must be from 1 to %d", SOCKETS_MAX);
  // Pages that no post needs are never touched.
  posts = need(calloc(POSTS_MAX, sizeof *posts));
  receivers = need(calloc(config.count, sizeof *receivers));
  poller = epoll_create1(0);
  if (poller < 0) fail("epoll: %s", strerror(errno));
  struct epoll_event parent = {.events = EPOLLIN, .data.u32 = UINT32_MAX};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, STDIN_FILENO, &parent) < 0) fail("stdin: %s", strerror(errno));
  fcntl(STDOUT_FILENO, F_SETPIPE_SZ, OUTPUT_BYTES);
  for (int index = 0; index < HANDSHAKES_AT_ONCE; index += 1) start_next();
  for (;;) {
    struct epoll_event events[EVENTS_AT_ONCE];
    int count = epoll_wait(poller, events, EVENTS_AT_ONCE, -1);
    if (count < 0 && errno != EINTR) fail("epoll_wait: %s", strerror(errno));
    for (int index = 0; index < count; index += 1) on_event(&events[index]);
    if (output_bytes > 0) flush_output();
  }
}
