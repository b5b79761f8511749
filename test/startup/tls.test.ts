/**
 * TLS by configuration: the same server over https and wss, with a real certificate made by openssl (skipped without
 * it).
 */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:https";
import { connect } from "node:net";
import { json } from "node:stream/consumers";
import { connect as connectTls, type TLSSocket } from "node:tls";
import t from "tap";
import { WebSocket } from "ws";
import { certificateObstacle, newCertificate } from "../support/certificate.ts";
import type { Client } from "../support/client.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

t.test(
  "with TLS_KEY_FILE and TLS_CERT_FILE only https and wss are served",
  { skip: certificateObstacle() ?? false },
  async (t) => {
    const { keyFile, certFile } = newCertificate(temporaryFolder(t));
    const { url, owner } = await startTestServer(t, {
      environment: { TLS_KEY_FILE: keyFile, TLS_CERT_FILE: certFile },
    });
    t.match(url, /^https:/, "and zuliprc says so");
    const ca = readFileSync(certFile);
    const [response] = await once(get(`${url}/api/v1/server_settings`, { ca, agent: false }), "response");
    t.equal(response.statusCode, 200);
    const settings = (await json(response)) as { realm_url: string };
    t.equal(settings.realm_url, url, "links that it creates start with https");

    const socket = new WebSocket(`${url.replace("https", "wss")}/api/v1/events/ws`, {
      ca,
      headers: { Authorization: owner.authorization },
    });
    await once(socket, "open");
    socket.send(JSON.stringify({ type: "call", method: "GET", path: "/users/me", ref: "me" }));
    const [frame] = await once(socket, "message");
    t.match(JSON.parse(String(frame)), { ref: "me", result: "success", user_id: 2 });
    socket.terminate();

    const plain = connect(Number(new URL(url).port), "127.0.0.1");
    let answered = "";
    plain.setEncoding("utf8").on("data", (bytes) => {
      answered += bytes;
    });
    // The server may reset the connection.
    plain.on("error", () => undefined);
    plain.end("GET /api/v1/server_settings HTTP/1.1\r\nHost: x\r\n\r\n");
    await new Promise((resolve) => plain.on("close", resolve));
    t.notMatch(answered, "HTTP/1.1 200", "plain HTTP is not answered");
  },
);

const name = "chat.example.org";

/** A connection that sends the name, and what the server shows there. */
async function meet(url: string, servername: string) {
  const socket = connectTls({
    host: "127.0.0.1",
    port: Number(new URL(url).port),
    servername,
    rejectUnauthorized: false,
  });
  await once(socket, "secureConnect");
  return {
    fingerprint: socket.getPeerCertificate().fingerprint256,
    async health(): Promise<string> {
      socket.write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
      const [bytes] = await once(socket, "data");
      return String(bytes).split("\r\n")[0] ?? "";
    },
    end: () => socket.destroy(),
  };
}

/** Reads a queue over the agent's connection. @returns the certificate of the connection, and the last event's id */
function poll(agent: Agent, { url, credentials: headers }: Client, queueId: string, lastEventId: number) {
  const query = new URLSearchParams({ queue_id: queueId, last_event_id: String(lastEventId) });
  return new Promise<{ status: number; fingerprint: string; lastEventId: number }>((resolve, reject) => {
    const options = { agent, servername: name, rejectUnauthorized: false, headers };
    get(`${url}/api/v1/events?${query}`, options, async (response) => {
      const { fingerprint256: fingerprint } = (response.socket as TLSSocket).getPeerCertificate();
      const { events = [] } = (await json(response)) as { events?: readonly { id: number }[] };
      resolve({ status: response.statusCode ?? 0, fingerprint, lastEventId: events.at(-1)?.id ?? lastEventId });
    }).on("error", reject);
  });
}

t.test(
  "a renewed certificate is used for new connections, open ones go on",
  { skip: certificateObstacle() ?? false },
  async (t) => {
    const folder = temporaryFolder(t);
    const { keyFile, certFile } = newCertificate(folder, name, "*.example.net");
    const server = await startTestServer(t, { environment: { TLS_KEY_FILE: keyFile, TLS_CERT_FILE: certFile } });
    const { url, owner, running } = server;
    const listen = async () => {
      const headers = { Authorization: owner.authorization };
      const options = { servername: name, rejectUnauthorized: false, headers };
      const socket = new WebSocket(`${url.replace("https", "wss")}/api/v1/events/ws`, options);
      await once(socket, "open");
      return socket;
    };
    const me = { type: "call", method: "GET", path: "/users/me" };
    const say = (content: string) => {
      const params = { type: "direct", to: [owner.userId], content };
      return { type: "call", method: "POST", path: "/messages", params };
    };
    const ask = async (socket: WebSocket, frame: object) => {
      socket.send(JSON.stringify({ ref: "me", ...frame }));
      return JSON.parse(String((await once(socket, "message"))[0]));
    };
    const openSocket = await listen();
    const registering = await listen();
    const register = { type: "register", params: { event_types: ["message"] } };
    const { queue_id: queueId, last_event_id: start } = await ask(registering, register);
    registering.terminate();
    // A connection that waits for an event is never idle, so the server has no other reason to close it.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.teardown(() => agent.destroy());
    let open = poll(agent, owner, queueId, start);
    const first = await meet(url, name);
    t.equal(await first.health(), "HTTP/1.1 200 OK");
    first.end();

    const former: string[] = [first.fingerprint];
    for (const round of ["first", "second"]) {
      newCertificate(folder, name, "*.example.net");
      t.match(running.renewCertificate(), { names: Array }, `the ${round} renewal`);
      for (const sent of [name, "a.example.net"]) {
        const renewed = await meet(url, sent);
        t.notOk(former.includes(renewed.fingerprint), `${sent} gets the new certificate`);
        t.equal(await renewed.health(), "HTTP/1.1 200 OK");
        renewed.end();
        if (sent !== name) former.push(renewed.fingerprint);
      }
      const socket = await listen();
      t.match(await ask(socket, me), { ref: "me", result: "success" });
      t.match(await ask(openSocket, say(round)), { ref: "me", result: "success" }, "an open WebSocket goes on");
      const answered = await open;
      t.match(answered, { status: 200, fingerprint: first.fingerprint }, "an open connection goes on");
      open = poll(agent, owner, queueId, answered.lastEventId);
      socket.terminate();
    }

    writeFileSync(certFile, "no certificate");
    t.match(running.renewCertificate(), { fault: /^[^\n]+$/ });
    const unchanged = await meet(url, name);
    t.ok(former.includes(unchanged.fingerprint), "files that cannot be used change nothing");
    unchanged.end();
    t.match(await ask(openSocket, say("the last")), { result: "success" });
    t.match(await open, { status: 200, fingerprint: first.fingerprint });
    openSocket.terminate();
    await server.stop();
  },
);
