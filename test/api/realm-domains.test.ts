/**
 * Domains of an organization: /realm/domains and the effect of emails_restricted_to_domains (OpenAPI, realm_domains).
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { goodPassword, inviteLink, problem, submit } from "../support/join.ts";
import { rowsFor } from "../support/rows.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const administrator = await server.user("administrator", roles.administrator);
const member = await server.user("member");
const ownersOnly = refusal("Must be an organization owner", "UNAUTHORIZED_PRINCIPAL");

const add = (by: Client, domain: string, allow_subdomains = false, more: Record<string, string> = {}) =>
  by.post("/realm/domains", { domain, allow_subdomains }, more);
const listed = async (by: Client = member) => (await by.get("/realm/domains")).body.domains;
const unknown = (domain: string) => refusal(`No entry found for domain ${domain}.`);

async function clear(): Promise<void> {
  for (const { domain } of await listed()) await owner.delete(`/realm/domains/${domain}`);
  server.setRealm({ emails_restricted_to_domains: false });
}

t.test("owners add, change and remove domains; everybody can list them and receives events", async (t) => {
  const follower = await member.follow({ event_types: ["realm_domains", "message"] });
  const made = await add(owner, " Chat.Example.ORG ");
  const id = made.body.new_domain?.[0];
  t.strictSame(outcome(made), success({ new_domain: [id, "chat.example.org"] }));
  const second = await add(owner, '"a-1.example"', true);
  t.strictSame(outcome(second), success({ new_domain: [id + 1, "a-1.example"] }), "as a JSON string, too");
  const both = [
    { domain: "chat.example.org", allow_subdomains: false },
    { domain: "a-1.example", allow_subdomains: true },
  ];
  await expects(t, member.get("/realm/domains"), success({ domains: both }));
  t.strictSame((await member.register({ fetch_event_types: ["realm_domains"] }))["realm_domains"], both);
  for (let count = 0; count < 2; count++) {
    const changed = await owner.patch("/realm/domains/CHAT.example.org", { allow_subdomains: true });
    t.strictSame(outcome(changed), success(), "the second time nothing changes");
  }
  await expects(t, owner.delete("/realm/domains/a-1.example"), success());
  await expects(t, owner.delete("/realm/domains/a-1.example"), unknown("a-1.example"));
  t.strictSame(await listed(), [{ domain: "chat.example.org", allow_subdomains: true }]);
  await follower.settled();
  t.strictSame(
    follower.ofType("realm_domains"),
    [
      { op: "add", realm_domain: both[0] },
      { op: "add", realm_domain: both[1] },
      { op: "change", realm_domain: { domain: "chat.example.org", allow_subdomains: true } },
      { op: "remove", domain: "a-1.example" },
    ].map((event) => ({ type: "realm_domains", ...event })),
  );
  await clear();
});

t.test("invalid, existing and unknown domains are rejected", async (t) => {
  await add(owner, "taken.example");
  const longest = `${"a".repeat(limits.realm_domain_characters_max - 8)}.example`;
  const faults: Readonly<Record<string, string>> = {
    "": "Domain can't be empty.",
    nodot: "Domain must have at least one dot (.)",
    [`${longest}s`]: "Domain is too long",
    ".example.org": "Domain cannot start or end with a dot (.)",
    "example.org.": "Domain cannot start or end with a dot (.)",
    "a..b": "Consecutive '.' are not allowed.",
    "-a.b": "Subdomains cannot start or end with a '-'.",
    "a_b.c": "Domain can only have letters, numbers, '.' and '-'s.",
    "ä.example": "Domain can only have letters, numbers, '.' and '-'s.",
  };
  const changes = await owner.watchChanges();
  for (const [domain, fault] of Object.entries(faults)) {
    await expects(t, add(owner, domain), `Invalid domain: ${fault}`, domain);
  }
  const taken = refusal("The domain taken.example is already a part of your organization.");
  await expects(t, add(owner, "TAKEN.example"), taken);
  await expects(t, owner.patch("/realm/domains/none", { allow_subdomains: true }), unknown("none"));
  for (const by of [member, administrator]) {
    await expects(t, add(by, "other.example"), ownersOnly);
    await expects(t, by.patch("/realm/domains/taken.example", { allow_subdomains: true }), ownersOnly);
    await expects(t, by.delete("/realm/domains/taken.example"), ownersOnly);
  }
  t.equal((await owner.post("/realm/domains", { domain: "x.example" })).body.code, "REQUEST_VARIABLE_MISSING");
  t.strictSame(await changes(), []);
  t.equal((await add(owner, longest)).status, 200);
  await clear();
});

t.test("[S3] realm_domains_max: one more is rejected", async (t) => {
  const own = await startTestServer(t);
  const domainOf = (id: number) => `d${id}.example`;
  const rows = rowsFor<"realmDomains">(limits.realm_domains_max - 1, (id) => [
    domainOf(id),
    { id, domain: domainOf(id), allowsSubdomains: false },
  ]);
  own.writeMany("realmDomains", rows);
  t.equal((await add(own.owner, "last.example")).status, 200);
  await expects(t, add(own.owner, "more.example"), "Too many domains");
});

t.test("emails of new users must be in an allowed domain", async (t) => {
  await add(owner, "exact.example");
  await add(owner, "wide.example", true);
  server.setRealm({ emails_restricted_to_domains: true });
  const create = async (email: string) =>
    outcome(await administrator.post("/users", { email, full_name: "New", password: goodPassword })).body as Params;
  const outside = (email: string) => refusal(`Email '${email}' not allowed in this organization`).body;
  const bad = ["a@other.example", "a@sub.exact.example", "a@notwide.example", "a@example"];
  for (const email of bad) t.strictSame(await create(email), outside(email));
  t.match(await create("a+b@exact.example"), { msg: "Email addresses containing + are not allowed." });
  for (const email of ["a@EXACT.example", "b@wide.example", "c@deep.sub.wide.example"]) {
    t.match(await create(email), { result: "success" }, email);
  }
  const link = await inviteLink(administrator);
  const page = await submit(link, { email: "joiner@other.example" });
  t.equal(problem(page), outside("joiner@other.example").msg);
  t.equal((await submit(link, { email: "joiner@exact.example" })).status, 200, "confirmed by email first (D275)");
  const invited = await administrator.post("/invites", { invitee_emails: "x@other.example, y+z@exact.example, k@x" });
  t.match(invited.body, {
    code: "INVITATION_FAILED",
    errors: [
      ["x@other.example", "Outside your domain.", false],
      ["y+z@exact.example", "Email addresses containing + are not allowed.", false],
      ["k@x", "Outside your domain.", false],
    ],
  });
  t.equal((await administrator.post("/invites", { invitee_emails: "x@exact.example" })).status, 200);
  await expects(t, member.patch("/settings", { email: "m@other.example" }), "Outside your domain.");
  await expects(t, member.patch("/settings", { email: "m@exact.example" }), success({ server_sends_email: false }));
  server.changeUser(owner.userId, (user) => ({ ...user, canChangeUserEmails: true }));
  const renamed = await owner.patch(`/users/${member.userId}`, { new_email: "m@other.example" });
  t.strictSame(outcome(renamed), refusal("New email value error: Outside your domain."));
  t.equal((await owner.patch(`/users/${member.userId}`, { new_email: "m@wide.example" })).status, 200);
  server.changeUser(member.userId, (user) => ({ ...user, email: member.account?.email ?? "" }));
  await clear();
});

t.test("[spec 4.1] a link to an email that is no longer allowed changes nothing", async (t) => {
  const person = await server.user("mover");
  const keyHash = "a hash that nobody has";
  server.write("emailChanges", keyHash, {
    userId: person.userId,
    newEmail: "mover@other.example",
    createdAt: server.realm.view.now,
  });
  await add(owner, "exact.example");
  server.setRealm({ emails_restricted_to_domains: true });
  const confirm = command({ actor: "realm" }, "user.email-change.confirm", { keyHash }, null);
  t.match(await server.realm.dispatcher.ask(confirm), { kind: "refused", msg: "Outside your domain." });
  await clear();
});

t.test("the restriction ends with the last domain", async (t) => {
  await add(owner, "one.example");
  await add(owner, "two.example");
  t.equal((await owner.patch("/realm", { emails_restricted_to_domains: true })).status, 200);
  const follower = await member.follow({ event_types: ["realm", "realm_domains", "message"] });
  await owner.delete("/realm/domains/one.example");
  await owner.delete("/realm/domains/two.example");
  await follower.settled();
  const data = { emails_restricted_to_domains: false };
  t.strictSame(follower.ofType("realm"), [{ type: "realm", op: "update_dict", property: "default", data }]);
  t.equal((await member.register({ fetch_event_types: ["realm"] }))["realm_emails_restricted_to_domains"], false);
});
