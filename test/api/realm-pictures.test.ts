/** Icon and logos of the organization: GET, POST and DELETE /realm/icon and /realm/logo (OpenAPI, `realm` events). */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, outcome, refusal, success } from "../support/client.ts";
import { fetchPage, lookAt, multipart, multipartType, picture, upload } from "../support/pictures.ts";
import { restart } from "../support/restart.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";
import { watch } from "../support/watch.ts";

const server = await startTestServer(t);
const { owner, url } = server;
const administrator = await server.user("administrator", roles.administrator);
const member = await server.user("member");
const png = await picture("png", 120, 80);
const initial = "/avatar/realm-icon";
const undecodable = refusal("Could not decode image; did you upload an image file?");

interface Kind {
  readonly path: string;
  readonly params: { readonly night?: boolean };
  /** In events; the state has the prefix `realm_`. */
  readonly name: string;
  readonly source: string;
  readonly size: { readonly width: number; readonly height: number };
}

const icon: Kind = { path: "/realm/icon", params: {}, name: "icon", source: "G", size: { width: 100, height: 100 } };
const logoSize = { width: 800, height: 100 };
const logo: Kind = { path: "/realm/logo", params: { night: false }, name: "logo", source: "D", size: logoSize };
const night: Kind = { ...logo, params: { night: true }, name: "night_logo" };

/** One file and the parameters of its kind. */
function send(by: Client, { path, params }: Kind, bytes: Buffer | string, headers: Record<string, string> = {}) {
  const fields = Object.entries(params).map(([name, value]) => ({ name, bytes: String(value) }));
  const body = multipart([...fields, { bytes, filename: '"p.png"', contentType: "image/png" }]);
  return by.send("POST", path, body, { "Content-Type": multipartType, ...headers });
}

async function stateOf(client: Client, { name }: Kind) {
  const state = await client.register({ fetch_event_types: ["realm"] });
  return { url: String(state[`realm_${name}_url`]), source: state[`realm_${name}_source`] };
}

function filesOf(dataDir: string): string[] {
  return readdirSync(join(dataDir, "realms", "1", "files", "realm")).sort();
}

for (const kind of [icon, logo, night]) {
  t.test(`${kind.name}: upload, event, file, redirect and removal`, async (t) => {
    t.strictSame(await stateOf(member, kind), { url: initial, source: kind.source });
    const follower = await member.follow({ event_types: ["realm", "message"] });
    const wide = await picture("jpeg", 1600, 200);
    const uploaded = await send(administrator, kind, wide);
    const state = await stateOf(member, kind);
    t.match(state, { url: /^\/user_avatars\/1\/realm\/[0-9a-f]{32}\.png$/, source: "U" });
    t.strictSame(outcome(uploaded), success(kind === icon ? { icon_url: state.url } : {}));
    const page = await fetchPage(url, state.url);
    t.equal(page.headers.get("content-type"), "image/png");
    t.match(await lookAt(page.bytes), { format: "png", ...kind.size });
    const redirect = await member.get(kind.path, kind.params);
    t.equal(redirect.status, 302);
    t.equal(redirect.headers.get("location"), state.url);
    t.equal((await send(administrator, kind, png)).status, 200);
    const second = await stateOf(member, kind);
    t.not(second.url, state.url, "another picture gets another URL");
    await server.realm.files.idle();
    t.equal((await fetchPage(url, state.url)).status, 404, "the former file is deleted");
    const removed = await administrator.delete(kind.path, kind.params);
    t.strictSame(outcome(removed), success(kind === icon ? { icon_url: initial } : {}));
    await expects(t, administrator.delete(kind.path, kind.params), outcome(removed), "again changes nothing");
    t.strictSame(await stateOf(member, kind), { url: initial, source: kind.source });
    t.equal((await member.get(kind.path, kind.params)).headers.get("location"), initial);
    await follower.settled();
    t.strictSame(
      follower.ofType("realm"),
      [
        { [`${kind.name}_url`]: state.url, [`${kind.name}_source`]: "U" },
        { [`${kind.name}_url`]: second.url, [`${kind.name}_source`]: "U" },
        { [`${kind.name}_url`]: initial, [`${kind.name}_source`]: kind.source },
      ].map((data) => ({ type: "realm", op: "update_dict", property: kind.name, data })),
    );
  });
}

t.test("a small logo keeps its size, and a small icon is enlarged", async (t) => {
  await send(owner, logo, await picture("png", 40, 20));
  t.match(await lookAt((await fetchPage(url, (await stateOf(owner, logo)).url)).bytes), { width: 40, height: 20 });
  await send(owner, icon, await picture("webp", 20, 40));
  const { url: address } = await stateOf(owner, icon);
  t.match(await lookAt((await fetchPage(url, address)).bytes), { width: 100, height: 100 });
  t.equal((await owner.get("/server_settings")).body.realm_icon, `${url}${address}`);
});

t.test("only administrators change them; other files are rejected", async (t) => {
  const changes = await owner.watchChanges();
  for (const kind of [icon, logo]) {
    for (const client of [member, await server.user(`guest${kind.name}`, roles.guest)]) {
      const forbidden = refusal("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL");
      await expects(t, send(client, kind, png), forbidden);
      await expects(t, client.delete(kind.path, kind.params), forbidden);
    }
    for (const bytes of ["no picture", ""]) await expects(t, send(owner, kind, bytes), undecodable);
    await expects(t, send(owner, kind, "<svg xmlns='http://www.w3.org/2000/svg'/>"), undecodable);
    const exactly = refusal(`You must upload exactly one ${kind.name}.`);
    await expects(t, owner.post(kind.path, kind.params), exactly);
    const two = [...Object.entries(kind.params).map(([name, value]) => ({ name, bytes: String(value) }))];
    const file = { bytes: png, filename: '"p.png"', contentType: "image/png" };
    const body = multipart([...two, file, { ...file, name: "other" }]);
    await expects(t, owner.send("POST", kind.path, body, { "Content-Type": multipartType }), exactly);
  }
  t.equal(
    (await upload(owner, "/realm/logo", png)).body.code,
    "REQUEST_VARIABLE_MISSING",
    "`night` is required for a logo",
  );
  t.equal((await owner.get("/realm/logo", { night: "maybe" })).status, 400);
  t.equal((await owner.anonymous().get("/realm/icon")).status, 401);
  const found = (await changes()).filter((event) => (event as { type: string }).type === "realm");
  t.strictSame(found, []);
});

t.test("[S3] realm_picture_bytes_max: a larger file is rejected", async (t) => {
  const padded = (size: number) => Buffer.concat([png, Buffer.alloc(size - png.length)]);
  t.equal((await send(owner, icon, padded(limits.realm_picture_bytes_max))).status, 200);
  const over = await send(owner, icon, padded(limits.realm_picture_bytes_max + 1));
  t.strictSame(
    outcome(over),
    refusal("Uploaded file is larger than the allowed limit of 5 MiB", "PAYLOAD_TOO_LARGE", 413),
  );
});

t.test("[D25] a repeated upload changes the picture once and leaves no file", async (t) => {
  const headers = { "Idempotency-Key": "one icon" };
  const first = await send(owner, icon, png, headers);
  const second = await send(owner, icon, png, headers);
  t.strictSame(outcome(second), outcome(first));
  t.equal((await stateOf(owner, icon)).url, first.body.icon_url);
});

t.test("[M1] pictures survive a restart, and unreferenced files are deleted", async (t) => {
  const before = await startTestServer(t, { dataDir: temporaryFolder(t) });
  for (const kind of [icon, logo, night]) await send(before.owner, kind, png);
  const kept = await Promise.all([icon, logo, night].map((kind) => stateOf(before.owner, kind)));
  const after = await restart(t, before);
  const client = after.as(before.owner);
  t.strictSame(await Promise.all([icon, logo, night].map((kind) => stateOf(client, kind))), kept);
  for (const { url: address } of kept) t.equal((await fetchPage(after.server.url, address)).status, 200);
  await after.server.stop();
  t.strictSame(filesOf(before.dataDir), kept.map((state) => state.url.split("/").at(-1)).sort());
});

t.test("[E2] state before plus events equals fresh state, live and replayed", async (t) => {
  const received = await watch(t, async (fixture) => {
    for (const kind of [icon, logo, night]) {
      await send(fixture.owner, kind, png);
      if (kind !== logo) await fixture.owner.delete(kind.path, kind.params);
    }
  });
  t.ok(received.has("realm update_dict"));
});
