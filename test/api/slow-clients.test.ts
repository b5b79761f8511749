/**
 * Clients that keep a connection open and send only a few bytes at a time. uWebSockets.js closes a connection whose
 * request in progress is slower than 16 KiB/s over ten seconds. The tests wait for these closes, so the library
 * determines their duration.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { sendFile } from "../support/attachments.ts";
import { RawConnection } from "../support/http.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner, url } = server;
const known = `Host: localhost\r\nAuthorization: ${owner.authorization}\r\n`;
const form = "Content-Type: application/x-www-form-urlencoded\r\n";
const fileStart = '--b\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\n';
const upload = `POST /api/v1/user_uploads HTTP/1.1\r\n${known}Content-Type: multipart/form-data; boundary=b\r\n`;

/** The beginning of a request, and the bytes that are sent repeatedly. */
const slow: Readonly<Record<string, readonly [beginning: string, more: string]>> = {
  "sends nothing at all": ["", ""],
  "sends a header's value byte by byte": ["GET /api/v1/users/me HTTP/1.1\r\nHost: localhost\r\nX-Long: ", "y"],
  "sends one header after another": ["GET /api/v1/users/me HTTP/1.1\r\nHost: localhost\r\n", "X: y\r\n"],
  "never ends the head of an upgrade": [
    "GET /api/v1/events/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n",
    "X",
  ],
  "sends a form byte by byte": [`POST /api/v1/messages HTTP/1.1\r\n${known}${form}Content-Length: 100000\r\n\r\n`, "y"],
  "sends a form in tiny chunks": [
    `POST /api/v1/messages HTTP/1.1\r\n${known}${form}Transfer-Encoding: chunked\r\n\r\n`,
    "1\r\ny\r\n",
  ],
  "stops in the middle of a form": [
    `POST /api/v1/messages HTTP/1.1\r\n${known}${form}Content-Length: 100000\r\n\r\ntype=`,
    "",
  ],
  "sends a file byte by byte": [`${upload}Content-Length: 1000000\r\n\r\n${fileStart}`, "y"],
  "sends a file in tiny chunks": [
    `${upload}Transfer-Encoding: chunked\r\n\r\n${fileStart.length.toString(16)}\r\n${fileStart}\r\n`,
    "1\r\ny\r\n",
  ],
};

t.test("[S3] slow loris: a client that sends a head, a body or a file in small pieces is disconnected", async (t) => {
  const connections = Object.entries(slow).map(([what, [beginning, more]]) => {
    const connection = new RawConnection(url);
    void connection.write(beginning);
    const drip = setInterval(() => void connection.write(more), 500);
    const closed = connection.closed.then(() => clearInterval(drip));
    t.teardown(() => {
      clearInterval(drip);
      connection.destroy();
    });
    return { what, connection, closed };
  });
  t.equal((await owner.get("/users/me")).status, 200, "others are served meanwhile");
  for (const { what, connection, closed } of connections) {
    await closed;
    t.equal(connection.rest, "", `a client that ${what} gets no answer`);
  }
  // Their upload slots are free again: as many as one user may have at a time.
  const files = Array.from({ length: limits.uploads_per_user_max }, (_, index) => sendFile(owner, `file ${index}`));
  for (const { status } of await Promise.all(files)) t.equal(status, 200);
});
