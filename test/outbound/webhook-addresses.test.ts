/**
 * Addresses to which outgoing webhooks may connect (behaviour 10): no private networks and not this machine, however
 * the address is written, whatever a name resolves to, and not by a redirect, unless OUTGOING_WEBHOOK_ALLOW_PRIVATE
 * permits it.
 */
import t, { type Test } from "tap";
import { readConfig } from "../../src/app/config.ts";
import { isPublicAddress } from "../../src/outbound/webhooks/addresses.ts";
import { until } from "../support/realtime.ts";
import { answer, pendingWebhooks, privateAllowed, Receiver, status, webhookBot } from "../support/receiver.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

/** Mentions a bot whose receiver has this address. @returns the bot's reply */
async function said(server: TestServer, name: string, url: string): Promise<string[]> {
  const { owner } = server;
  const { bot } = await webhookBot(owner, name, url);
  await owner.post("/messages", { type: "direct", to: [bot.userId], content: "?" });
  await until(() => pendingWebhooks(server).length === 0);
  await server.realm.dispatcher.idle();
  const narrow = [["sender", String(bot.userId)]];
  const page = { anchor: "newest", num_before: 10, num_after: 0, narrow, apply_markdown: false };
  const { body } = await owner.get("/messages", page);
  return body.messages.map(({ content }: { content: string }) => content);
}

const refused = ["Failure! The URL configured for the webhook is for a private or disallowed network."];

async function receivers(t: Test) {
  const four = await Receiver.start(t, answer({ content: "here" }));
  const six = await Receiver.start(t, answer({ content: "here" }), "::1");
  return { four, six };
}

t.test("[behaviour 10] a webhook connects to this machine by no spelling of its address or name", async (t) => {
  const server = await startTestServer(t);
  const { four, six } = await receivers(t);
  const hosts = [
    ...["127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "0.0.0.0", "localhost", "LOCALHOST"].map(
      (host) => `${host}:${four.port}`,
    ),
    ...["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]"].map((host) => `${host}:${four.port}`),
    ...["[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "localhost"].map((host) => `${host}:${six.port}`),
    "10.0.0.1",
    "169.254.169.254",
    "[fe80::1]",
    "[fc00::1]",
  ];
  for (const [index, host] of hosts.entries()) {
    t.strictSame(await said(server, `h${index}`, `http://${host}/`), refused, host);
    t.strictSame(await said(server, `s${index}`, `https://${host}/`), refused, `https ${host}`);
  }
  t.strictSame([four.calls.length, six.calls.length], [0, 0]);
  t.strictSame([four.connections, six.connections], [0, 0], "nobody even knocked");
});

t.test("[behaviour 10] with OUTGOING_WEBHOOK_ALLOW_PRIVATE=true a webhook connects to all of them", async (t) => {
  const server = await startTestServer(t, privateAllowed);
  const { four, six } = await receivers(t);
  for (const [index, host] of [`127.0.0.1:${four.port}`, `localhost:${four.port}`, `[::1]:${six.port}`].entries()) {
    t.strictSame(await said(server, `h${index}`, `http://${host}/`), ["here"], host);
  }
});

t.test("[D160] a webhook follows no redirect, wherever it leads", async (t) => {
  const server = await startTestServer(t, privateAllowed);
  const { four, six } = await receivers(t);
  for (const code of [301, 302, 303, 307, 308]) {
    six.usual = status(code, { Location: four.url });
    const texts = await said(server, `r${code}`, `http://[::1]:${six.port}/`);
    t.strictSame(texts, [`Failure! Third party responded with ${code}`]);
  }
  t.equal(four.calls.length, 0);
});

t.test("[behaviour 10] public addresses are distinguished from private and reserved ones", async (t) => {
  const open = ["8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.0", "2606:4700::1"];
  const closed = [
    ...["0.0.0.0", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.255.255.255", "169.254.0.1", "172.16.0.1"],
    ...["172.31.255.255", "192.0.0.1", "192.0.2.1", "192.168.0.1", "198.18.0.1", "203.0.113.1", "224.0.0.1"],
    ...["239.255.255.255", "240.0.0.1", "255.255.255.255"],
    ...["::", "::1", "::7f00:1", "::ffff:10.0.0.1", "::ffff:a00:1", "64:ff9b::a00:1", "64:ff9b:1::1", "100::1"],
    ...["2001::1", "2001:db8::1", "2002:a00:1::", "3fff::1", "5f00::1", "fc00::1", "fd00::1", "fe80::1"],
    ...["fe80::1%eth0", "fec0::1", "ff02::1", "", "localhost"],
  ];
  for (const address of open) t.ok(isPublicAddress(address), address);
  for (const address of closed) t.notOk(isPublicAddress(address), address);
  t.ok(isPublicAddress("::ffff:8.8.8.8"), "an IPv4-mapped IPv6 address counts as the IPv4 address");
});

t.test("[behaviour 10] OUTGOING_WEBHOOK_ALLOW_PRIVATE is off unless it is `true`", async (t) => {
  for (const environment of [{}, { OUTGOING_WEBHOOK_ALLOW_PRIVATE: "false" }]) {
    t.equal(readConfig(environment).webhooksMayBePrivate, false, JSON.stringify(environment));
  }
  t.equal(readConfig({ OUTGOING_WEBHOOK_ALLOW_PRIVATE: "true" }).webhooksMayBePrivate, true);
  t.throws(() => readConfig({ OUTGOING_WEBHOOK_ALLOW_PRIVATE: "yes" }), { name: "BadConfig" });
});

t.test("[behaviour 1.9] only http and https addresses are accepted", async (t) => {
  const { owner } = await startTestServer(t);
  for (const url of [
    "ftp://example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "//example.com",
    "example.com",
  ]) {
    await t.rejects(webhookBot(owner, "bad", url), /payload_url is not a URL/, url);
  }
});
