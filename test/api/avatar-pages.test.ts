/** Stable URLs of pictures: /avatar/{user} and the organization's icon (public API). */
import sharp from "sharp";
import t from "tap";
import type { Client } from "../support/client.ts";
import { fetchPage, gravatar, lookAt, picture, upload } from "../support/pictures.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner, url } = server;
const member = await server.user("member");
const path = "/users/me/avatar";
const png = await picture("png", 120, 80);

t.test("GET /avatar/{user} redirects to the picture in both sizes, by id and by email", async (t) => {
  const person = await server.user("somebody");
  const email = person.account?.email ?? "";
  const ask = (viewer: Client | null, who: string | number) =>
    fetchPage(url, `/avatar/${who}`, viewer === null ? {} : { Authorization: viewer.authorization });
  const locationOf = async (viewer: Client | null, who: string | number) => {
    const page = await ask(viewer, who);
    t.equal(page.status, 302, String(who));
    return page.headers.get("Location");
  };
  t.equal(await locationOf(member, person.userId), gravatar(email, 1));
  t.equal(await locationOf(member, `${person.userId}/medium`), gravatar(email, 1, "&s=500"));
  server.setUser(person.userId, { email_address_visibility: 4 });
  const dummy = `user${person.userId}@colloquy.invalid`;
  t.equal(await locationOf(member, person.userId), gravatar(dummy, 1), "the hash of a hidden email is not revealed");
  server.setUser(person.userId, { email_address_visibility: 1 });
  const uploaded = (await upload(person, path, png)).body.avatar_url;
  for (const who of [person.userId, email, email.toUpperCase(), encodeURIComponent(email)]) {
    t.equal(await locationOf(member, who), uploaded);
    t.equal(await locationOf(member, `${who}/medium`), uploaded.replace(".png", "-medium.png"));
  }
  // Callers who may not see the user cannot find out whether the account exists (S1).
  for (const outsider of [null, owner.anonymous()]) {
    t.equal(await locationOf(outsider, email), gravatar(email, 1));
    t.equal(await locationOf(outsider, person.userId), gravatar(`user${person.userId}@`, 1));
    t.equal(await locationOf(outsider, 999_999), gravatar("user999999@", 1), "as for a user who does not exist");
  }
  server.setUser(person.userId, { email_address_visibility: 4 });
  t.equal(await locationOf(member, email), gravatar(email, 1), "a hidden email finds no user");
  t.equal(await locationOf(person, email), uploaded, "but to oneself");
  server.setRealm({ enable_spectator_access: true });
  t.equal(
    await locationOf(null, person.userId),
    uploaded,
    "[D27] a spectator is redirected to the pictures that GET /users shows",
  );
  server.setRealm({ enable_spectator_access: false });
  for (const bad of ["", "x", "medium", "%0d%0aX-Evil:%201", "a@b@c", "1/2"]) {
    t.equal((await ask(member, bad)).status, 404, bad);
  }
});

t.test("the icon of the organization is a picture of 100 pixels that never changes", async (t) => {
  const { realm_icon_url: icon } = await owner.register({ fetch_event_types: ["realm"] });
  const { body: settings } = await owner.get("/server_settings");
  t.equal(settings.realm_icon, `${server.url}${icon}`);
  const page = await fetchPage(server.url, String(icon));
  t.equal(page.status, 200);
  t.equal(page.headers.get("Content-Type"), "image/png");
  t.match(await lookAt(page.bytes), { format: "png", width: 100, height: 100 });
  await sharp(page.bytes, { failOn: "warning" }).raw().toBuffer();
  t.ok((await fetchPage(server.url, String(icon))).bytes.equals(page.bytes));
});

t.test("[behaviour 1.8] /register publishes the limit", async (t) => {
  t.equal((await owner.register({ fetch_event_types: ["realm"] }))["max_avatar_file_size_mib"], 5);
});

t.test("[D27] the user list of a spectator has uploaded pictures and no hashes of emails", async (t) => {
  const person = await server.user("listed");
  server.setRealm({ enable_spectator_access: true });
  const shownTo = async (viewer: Client, clientGravatar: boolean) => {
    const { body } = await viewer.get("/users", { client_gravatar: clientGravatar });
    return body.members.find((user: { user_id: number }) => user.user_id === person.userId).avatar_url;
  };
  const anonymous = owner.anonymous();
  t.notMatch(await shownTo(anonymous, false), gravatar(person.account?.email ?? "", 1));
  const uploaded = (await upload(person, path, png)).body.avatar_url;
  t.equal(await shownTo(anonymous, true), uploaded);
  server.setRealm({ enable_spectator_access: false });
});
