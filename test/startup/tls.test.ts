/**
 * TLS by configuration: the same server over https and wss, with a real certificate made by openssl (skipped without
 * it).
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get } from "node:https";
import { connect } from "node:net";
import { json, text } from "node:stream/consumers";
import t from "tap";
import { WebSocket } from "ws";
import { certificateObstacle, newCertificate } from "../support/certificate.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

t.test(
  "[start-up] with TLS_KEY_FILE and TLS_CERT_FILE the server speaks only https and wss",
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
    plain.end("GET /api/v1/server_settings HTTP/1.1\r\nHost: x\r\n\r\n");
    t.notMatch(await text(plain), "HTTP/1.1 200", "plain HTTP is not answered");
  },
);
