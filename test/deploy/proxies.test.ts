/** The examples in deploy/, with the real programs in front of a server. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import t, { type Test } from "tap";
import { sendFile } from "../support/attachments.ts";
import { Client } from "../support/client.ts";
import { RawConnection } from "../support/http.ts";
import { freePort } from "../support/ports.ts";
import { checkout } from "../support/process.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

interface Proxy {
  readonly name: string;
  readonly version: readonly string[];
  /** What a client that speaks HTTP/1.0 gets; 200 where the proxy turns it into HTTP/1.1. */
  readonly answersHttp10: 200 | 505;
  /** Writes its configuration. @returns the command that serves it in the foreground */
  prepare(folder: string, port: number, upstream: number): readonly string[];
}

/** Replaces what an operator would, and fails if the example has it no more. */
function changed(file: string, changes: Readonly<Record<string, string>>): string {
  let text = readFileSync(join(checkout, "deploy", file), "utf8");
  for (const [from, to] of Object.entries(changes)) {
    if (!text.includes(from)) throw new Error(`deploy/${file} has no ${from}`);
    text = text.replace(from, to);
  }
  return text;
}

const proxies: readonly Proxy[] = [
  {
    name: "nginx",
    version: ["nginx", "-v"],
    answersHttp10: 200,
    prepare(folder, port, upstream) {
      const site = changed("nginx.conf", {
        "listen 443 ssl;": `listen 127.0.0.1:${port};`,
        "ssl_certificate     /etc/letsencrypt/live/chat.example.org/fullchain.pem;": "",
        "ssl_certificate_key /etc/letsencrypt/live/chat.example.org/privkey.pem;": "",
        "server 127.0.0.1:9991;": `server 127.0.0.1:${upstream};`,
      });
      writeFileSync(join(folder, "site.conf"), site);
      const own = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (one) => `${one}_temp_path ${folder}/${one};`,
      );
      // Started as root, its workers could not read the test's folder as somebody else.
      const user = process.getuid?.() === 0 ? "user root;" : "";
      const main = `${user} daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
        http { access_log off; ${own.join(" ")} include ${folder}/site.conf; }`;
      writeFileSync(join(folder, "nginx.conf"), main);
      return ["nginx", "-e", join(folder, "error.log"), "-c", join(folder, "nginx.conf")];
    },
  },
  {
    name: "caddy",
    version: ["caddy", "version"],
    answersHttp10: 200,
    prepare(folder, port, upstream) {
      const site = changed("Caddyfile", {
        "{$SITE:chat.example.org}": `http://127.0.0.1:${port}`,
        "{$COLLOQUY:127.0.0.1:9991}": `127.0.0.1:${upstream}`,
      });
      writeFileSync(join(folder, "Caddyfile"), `{\nadmin off\n}\n${site}`);
      return ["caddy", "run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")];
    },
  },
  {
    name: "haproxy",
    version: ["haproxy", "-v"],
    answersHttp10: 505,
    prepare(folder, port, upstream) {
      const sections = changed("haproxy.cfg", {
        "bind :443 ssl crt /etc/haproxy/chat.example.org.pem": `bind 127.0.0.1:${port}`,
        "127.0.0.1:9991 check": `127.0.0.1:${upstream} check`,
      });
      writeFileSync(join(folder, "haproxy.cfg"), sections);
      return ["haproxy", "-db", "-f", join(folder, "haproxy.cfg")];
    },
  },
  {
    name: "apache",
    version: ["apache2", "-v"],
    answersHttp10: 200,
    prepare(folder, port, upstream) {
      const site = changed("apache.conf", {
        "*:443": `127.0.0.1:${port}`,
        "SSLEngine on": "",
        "SSLCertificateFile    /etc/letsencrypt/live/chat.example.org/fullchain.pem": "",
        "SSLCertificateKeyFile /etc/letsencrypt/live/chat.example.org/privkey.pem": "",
        "http://127.0.0.1:9991/": `http://127.0.0.1:${upstream}/`,
      });
      const modules = ["mpm_event", "authz_core", "filter", "deflate", "headers", "proxy", "proxy_http"].map(
        (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`,
      );
      const own = [`Listen 127.0.0.1:${port}`, `PidFile ${folder}/pid`, `ErrorLog ${folder}/error.log`];
      const user = process.getuid?.() === 0 ? ["User www-data", "Group www-data"] : [];
      const lines = [`ServerRoot ${folder}`, ...modules, ...own, ...user, `DefaultRuntimeDir ${folder}`];
      writeFileSync(join(folder, "apache.conf"), [...lines, site].join("\n"));
      return ["apache2", "-D", "FOREGROUND", "-f", join(folder, "apache.conf")];
    },
  },
];

/** Resolves when the port accepts connections. */
async function untilListening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const opened = await Promise.race([
      once(socket, "connect").then(() => true),
      once(socket, "error").then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (opened) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function messagesOn(page: Response): Promise<number> {
  const { messages } = (await page.json()) as { readonly messages: readonly unknown[] };
  return messages.length;
}

async function behind(t: Test, proxy: Proxy, environment: Readonly<Record<string, string>> = {}) {
  const server = await startTestServer(t, { environment: { TRUST_PROXY: "true", ...environment } });
  const folder = join(temporaryFolder(t), proxy.name);
  mkdirSync(folder);
  const port = await freePort();
  const [command = "", ...args] = proxy.prepare(folder, port, server.running.port);
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(command, args, { stdio: "ignore", env });
  const exited = once(child, "exit");
  t.teardown(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  await untilListening(port);
  const url = `http://127.0.0.1:${port}`;
  return { url, client: new Client(url, server.owner.account) };
}

for (const proxy of proxies) {
  const [command = "", ...args] = proxy.version;
  const isMissing = spawnSync(command, args).status !== 0;
  const options = { skip: isMissing ? `${proxy.name} is not installed` : false };

  t.test(`${proxy.name}: calls, long polls and WebSockets`, options, async (t) => {
    const { client, url } = await behind(t, proxy);
    const { body: queue } = await client.post("/register", { event_types: ["message"] });
    const polled = client.get("/events", { queue_id: queue.queue_id, last_event_id: queue.last_event_id });
    const socket = new Socket(url, { as: client });
    await socket.opened();
    t.match(await socket.ask({ type: "ping" }), { type: "pong" });
    const sent = await client.post("/messages", { type: "direct", to: JSON.stringify([2]), content: "Through" });
    t.equal(sent.status, 200);
    const { body } = await polled;
    t.match(body.events, [{ type: "message", message: { content: "Through" } }]);
    socket.close();
  });

  t.test(`${proxy.name}: JSON is compressed, files are not`, options, async (t) => {
    const { client, url } = await behind(t, proxy);
    const headers = { authorization: client.authorization, "accept-encoding": "gzip" };
    const registered = await fetch(`${url}/api/v1/register`, { method: "POST", headers });
    t.equal(registered.headers.get("content-encoding"), "gzip");
    t.match(await registered.json(), { result: "success" });
    const plain = await fetch(`${url}/api/v1/register`, {
      method: "POST",
      headers: { ...headers, "accept-encoding": "identity" },
    });
    t.equal(plain.headers.get("content-encoding"), null);
    t.match(await plain.json(), { result: "success" });
    // Compressed by the server, and not once more.
    const content = `long ${"words ".repeat(1600)}`;
    await Promise.all(
      Array.from({ length: 120 }, () => client.post("/messages", { type: "direct", to: "[2]", content })),
    );
    const path = "/api/v1/messages?anchor=oldest&num_before=0&num_after=200";
    const page = await fetch(`${url}${path}`, { headers });
    t.strictSame([page.headers.get("content-encoding"), await messagesOn(page)], ["gzip", 120]);
    const plainPage = await fetch(`${url}${path}`, { headers: { ...headers, "accept-encoding": "identity" } });
    t.strictSame([plainPage.headers.get("content-encoding"), await messagesOn(plainPage)], [null, 120]);
    const { body } = await sendFile(client, Buffer.alloc(4096, "x"), "notes.txt");
    const file = await fetch(`${url}${body.url}`, { headers });
    t.strictSame([file.headers.get("content-encoding"), (await file.text()).length], [null, 4096]);
  });

  t.test(`${proxy.name}: uploads, and pieces of files`, options, async (t) => {
    const { client, url } = await behind(t, proxy);
    const bytes = Buffer.alloc(3 * 1024 * 1024, "x");
    const sent = await sendFile(client, bytes, "large.txt");
    t.equal(sent.status, 200);
    const headers = { authorization: client.authorization, range: "bytes=10-19" };
    const piece = await fetch(`${url}${sent.body.url}`, { headers });
    t.equal(piece.status, 206);
    t.equal(await piece.text(), "xxxxxxxxxx");
  });

  t.test(`${proxy.name}: probes in HTTP/1.0, heads in pieces, long queries`, options, async (t) => {
    const { client, url } = await behind(t, proxy);
    const probe = new RawConnection(url);
    await probe.write("GET /health HTTP/1.0\r\n\r\n");
    t.match(await probe.answer(), { status: proxy.answersHttp10 });
    probe.destroy();
    const slow = new RawConnection(url);
    for (const piece of ["GE", "T /health HT", "TP/1.1\r\nHo", "st: 127.0.0.1\r\nConnection: close\r", "\n\r\n"]) {
      await slow.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.match(await slow.answer(), { status: 200 });
    slow.destroy();
    const found = await client.get("/users/me", { padding: "x".repeat(10_000) });
    t.match(found, { status: 200, body: { ignored_parameters_unsupported: ["padding"] } });
  });

  t.test(`${proxy.name}: nobody can forge an address`, options, async (t) => {
    const { client } = await behind(t, proxy, { RATE_LIMITS: "login=2/60" });
    const statuses: number[] = [];
    for (const address of ["203.0.113.1", "203.0.113.2", "203.0.113.3"]) {
      const login = { username: "nobody@example.com", password: "wrong" };
      const { status } = await client.anonymous().post("/fetch_api_key", login, { "X-Forwarded-For": address });
      statuses.push(status);
    }
    t.strictSame(statuses, [401, 401, 429], "all three came from one address");
  });
}
