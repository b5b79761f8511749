/**
 * Headers that every answer has, whoever writes it, on both transports: no sniffing of types (S2), no cache that keeps
 * what a cookie has shown, and TLS for good where there is TLS (D277).
 */
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import t, { type Test } from "tap";
import type { Answer } from "../support/client.ts";
import { Page } from "../support/page.ts";
import { startTestServer } from "../support/server.ts";

const transports = [{}, { TRANSPORT: "node" }] as const;
const unstored = "private, no-store";
const password = "correct horse battery";

/** A request line and headers as they are. */
async function raw(url: string, lines: readonly string[]): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  await once(socket, "connect");
  socket.end(`${lines.join("\r\n")}\r\n\r\n`);
  return text(socket);
}

function strictTransport(url: string, headers: Record<string, string>): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers }, (response) => {
      response.resume();
      resolve(response.headers["strict-transport-security"]);
    });
    sent.on("error", reject);
    sent.end();
  });
}

async function isUnstored(t: Test, title: string, pending: Promise<Answer>): Promise<void> {
  const { headers } = await pending;
  t.equal(headers.get("cache-control"), unstored, title);
}

for (const environment of transports) {
  t.test(`by the transport ${JSON.stringify(environment)}`, async (t) => {
    t.test("[S2, D277] every answer forbids a browser to sniff its type", async (t) => {
      const { url, owner } = await startTestServer(t, { environment });
      const paths = ["/api/v1/users/me", "/api/v1/no/such", "/api/v1/server_settings", "/", "/assets/none", "/health"];
      for (const path of [...paths, "/avatar/2", "/api/docs", "/no/page", "/%zz", "/accounts/password/reset/"]) {
        for (const headers of [{}, { Authorization: owner.authorization }]) {
          const answer = await fetch(url + path, { headers, redirect: "manual" });
          t.equal(answer.headers.get("x-content-type-options"), "nosniff", `${answer.status} ${path}`);
        }
      }
      for (const method of ["OPTIONS", "PUT", "DELETE"]) {
        const answer = await fetch(`${url}/api/v1/messages`, { method });
        t.equal(answer.headers.get("x-content-type-options"), "nosniff", method);
      }
      const upgrade = ["GET /api/v1/ws HTTP/1.1", "Host: 127.0.0.1", "Connection: Upgrade", "Upgrade: websocket"];
      for (const lines of [upgrade, ["GET / HTTP/1.1", "Host: 127.0.0.1", "Content-Length: 1", "Content-Length: 2"]]) {
        const answer = await raw(url, lines);
        t.match(answer, /^HTTP\/1\.1 4\d\d[\s\S]*x-content-type-options: nosniff/i, String(lines[0]));
      }
    });

    t.test("[D277] no cache keeps an answer to a session's cookie, nor one that sets it", async (t) => {
      const server = await startTestServer(t, { environment });
      const person = await server.person("Ann");
      const page = new Page(server.url);
      await isUnstored(t, "log-in", page.logIn(person.account?.email ?? "", password));
      await isUnstored(t, "one's account", page.get("/users/me"));
      await isUnstored(t, "an answer with an ETag", page.get("/users"));
      await isUnstored(t, "a rejection", page.get("/messages/999"));
      await isUnstored(t, "a write", page.post("/users/me/status", { status_text: "here" }));
      const tag = (await page.get("/users")).headers.get("etag") ?? "";
      const same = await page.get("/users", {}, { "If-None-Match": tag });
      t.strictSame([same.status, same.headers.get("cache-control")], [304, unstored]);
      t.equal((await person.get("/users")).headers.get("cache-control"), "private, no-cache", "by an API key");
      t.equal((await person.get("/users/me")).headers.get("cache-control"), null);
      await isUnstored(t, "log-out", page.delete("/session"));
    });

    t.test("[D277] with TLS, by a trusted proxy, browsers are told to use nothing else", async (t) => {
      const server = await startTestServer(t, { environment: { ...environment, TRUST_PROXY: "true" } });
      const paths = ["/", "/api/v1/server_settings", "/api/v1/users/me", "/health", "/no/page"];
      for (const path of paths) {
        const proxied = { "X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https" };
        t.match(await strictTransport(server.url + path, proxied), /^max-age=[1-9]\d{7,}$/, path);
        const plain = { ...proxied, "X-Forwarded-Proto": "http" };
        t.equal(await strictTransport(server.url + path, plain), undefined, path);
      }
      const upgrade = [
        "Host: 127.0.0.1",
        "X-Forwarded-For: 192.0.2.1",
        "X-Forwarded-Proto: https",
        "Upgrade: websocket",
      ];
      const refused = await raw(server.url, ["GET /api/v1/events/ws HTTP/1.1", ...upgrade, "Connection: Upgrade"]);
      t.match(refused, /^HTTP\/1\.1 400[\s\S]*strict-transport-security: max-age=/i, "a handshake");
      const credentials = `Authorization: Basic ${Buffer.from("nobody@example.com:none").toString("base64")}`;
      const headers = [
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
      ];
      const unknown = await raw(server.url, ["GET /api/v1/events/ws HTTP/1.1", ...upgrade, ...headers, credentials]);
      t.match(unknown, /^HTTP\/1\.1 401[\s\S]*strict-transport-security: max-age=/i, "a handshake of nobody");
      const open = await startTestServer(t, { environment });
      const forged = { "X-Forwarded-Proto": "https" };
      t.equal(await strictTransport(`${open.url}/`, forged), undefined, "without TRUST_PROXY a header changes nothing");
    });
  });
}
