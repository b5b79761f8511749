/**
 * The page behind the setup link (D285): the first person names the organization and claims the owner's
 * account. The secret in the link is the permission, so no other site can submit the form. Without a secret the page
 * says whether the organization waits for its setup, which the log-in page asks.
 */

import { createHash, timingSafeEqual } from "node:crypto";
import { command } from "../../../actors/protocol/decision.ts";
import { welcomeTopic } from "../../../actors/realm/setup.ts";
import { openSetup } from "../../../actors/rules/setup.ts";
import { readRealmSettings } from "../../../domain/realm-settings.ts";
import { checkChannelName, codePoints } from "../../../domain/text.ts";
import { isRefusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { type VerifiedLogin, verifyLogin } from "../../operations/identity/password-login.ts";
import type { Passwords } from "../../operations/identity/passwords.ts";
import { startSession } from "../../operations/identity/sessions.ts";
import { setupPrefix as prefix } from "../../operations/links.ts";
import type { RateLimits } from "../../operations/rate-limits.ts";
import type { Realm } from "../../runtime/realm.ts";
import { sessionCookie } from "../http/credentials.ts";
import type { SubmittedForm } from "../http/form.ts";
import { errorPage, type PageRequest, type PageRoute, redirectPage } from "../http/pages.ts";
import type { HttpReply } from "../http/reply.ts";
import { type PersonProblem, personProblem } from "./join.ts";
import { fieldMark } from "./join-forms.ts";
import { eta, formPage, frame, messagePage, tooManyPage } from "./small-pages.ts";
import type { WebPage } from "./web-page.ts";

export interface SetupTools {
  readonly passwords: Passwords;
  readonly rates: RateLimits;
  /** Null: it is not built. */
  readonly webPage: WebPage | null;
  /** The owner's account has another address now. */
  readonly onSetUp: (realm: Realm) => void;
}

type Field = PersonProblem["field"] | "name" | "channels";

interface Problem {
  readonly field: Field;
  readonly text: string;
}

interface Entries {
  readonly name: string;
  readonly fullName: string;
  readonly email: string;
  /** One name in each line. */
  readonly channels: string;
}

/** As many as `setup_channels_max`. */
const suggestedChannels = ["announcements", "projects", "social"].join("\n");

const template = eta.compile(
  frame(
    "Set up your organization",
    `<h1>Set up your organization</h1>
<p>You will be its owner: the person who invites others and can change everything.</p>
<% if (it.problem) { %><p class="problem" id="problem" role="alert"><%= it.problem.text %></p><% } %>
<form method="post" accept-charset="utf-8">
<label for="name">Name of the organization</label>
<input id="name" name="name" type="text" value="<%= it.name %>" autocomplete="organization" required maxlength="${limits.realm_name_code_points_max}"${fieldMark("name")}>
<label for="full_name">Your name</label>
<input id="full_name" name="full_name" type="text" value="<%= it.fullName %>" autocomplete="name" required maxlength="${limits.full_name_code_points_max}"${fieldMark("full_name")}>
<label for="email">Your email address</label>
<input id="email" name="email" type="email" value="<%= it.email %>" autocomplete="username" required maxlength="${limits.email_code_points_max}"${fieldMark("email")}>
<label for="password">Password</label>
<p class="hint" id="password-hint">At least ${limits.password_code_points_min} characters.</p>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${limits.password_code_points_min}"<% if (it.problem?.field !== "password") { %> aria-describedby="password-hint"<% } %>${fieldMark("password")}>
<label for="channels">Channels beside #general</label>
<p class="hint" id="channels-hint">One in each line, up to ${limits.setup_channels_max}. You can add and rename channels at any time.</p>
<textarea id="channels" name="channels" rows="${limits.setup_channels_max}"<% if (it.problem?.field !== "channels") { %> aria-describedby="channels-hint"<% } %>${fieldMark("channels")}><%= it.channels %></textarea>
<button type="submit">Set up</button>
</form>`,
  ),
);

export function setupPages(tools: SetupTools): readonly PageRoute[] {
  return [{ prefix, takesForms: true, serve: (request) => serve(request, tools) }];
}

function serve(request: PageRequest, tools: SetupTools): HttpReply | Promise<HttpReply> {
  const address = request.address();
  const looked = tools.rates.take("anonymous", address);
  if (looked !== null && looked.retryAfterS > 0) return tooManyPage(looked.retryAfterS);
  if (request.method === "POST" && request.isFromForeignPage) return errorPage(refuse.crossSite());
  const secret = request.rest.replace(/\/$/, "");
  const open = openSetup(request.realm.view);
  if (secret === "") return open !== null && isAlone(request) ? waiting() : redirectPage("/");
  if (open === null) return request.method === "POST" ? sentAgain(request, tools, address) : ended();
  if (!isSame(secret, open.secret)) return unknown();
  return request.method === "POST" ? submit(request, secret, tools, address) : form(firstEntries(request), null);
}

/** No person but the owner has an account. */
function isAlone({ realm: { view } }: PageRequest): boolean {
  let people = 0;
  for (const { botType } of view.users.all()) {
    if (botType === null && ++people > 1) return false;
  }
  return true;
}

/** In a time that does not depend on how much of it is right. */
function isSame(given: string, secret: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(given), hash(secret));
}

function firstEntries({ realm: { view } }: PageRequest): Entries {
  return { name: view.realm.name, fullName: "", email: "", channels: suggestedChannels };
}

/** With a problem: shows the form again with what was entered, except the password. */
function form(entries: Entries, problem: Problem | null): HttpReply {
  return formPage(problem === null ? 200 : 400, template.call(eta, { ...entries, problem }));
}

function entriesOf({ values }: SubmittedForm): Entries {
  const text = (name: string) => values.get(name) ?? "";
  return {
    name: text("name").trim(),
    fullName: text("full_name").trim(),
    email: text("email").trim(),
    channels: text("channels").replaceAll("\r\n", "\n"),
  };
}

function channelNamesOf({ channels }: Entries): string[] {
  return channels.split("\n").flatMap((line) => line.trim().replace(/^#/, "").trim() || []);
}

function problemOf(entries: Entries, password: string): Problem | null {
  const { name } = entries;
  if (name === "") return { field: "name", text: "Enter a name for the organization." };
  if (codePoints(name) > limits.realm_name_code_points_max) {
    const most = limits.realm_name_code_points_max;
    return { field: "name", text: `This name is too long: at most ${most} characters.` };
  }
  const read = readRealmSettings({ name });
  if (isRefusal(read)) return { field: "name", text: read.msg };
  const person = personProblem(entries, password);
  if (person !== null) return person;
  const channels = channelNamesOf(entries);
  if (channels.length > limits.setup_channels_max) {
    return { field: "channels", text: `Name at most ${limits.setup_channels_max} channels here.` };
  }
  for (const channel of channels) {
    const bad = checkChannelName(channel, limits.channel_name_code_points_max);
    if (bad !== null) return { field: "channels", text: bad.msg };
  }
  return null;
}

async function submit(request: PageRequest, secret: string, tools: SetupTools, address: string): Promise<HttpReply> {
  const { realm } = request;
  const sent = request.form();
  if (isRefusal(sent)) return unreadable();
  const entries = entriesOf(sent);
  const password = sent.values.get("password") ?? "";
  const problem = problemOf(entries, password);
  if (problem !== null) return form(entries, problem);
  const passwordHash = await tools.passwords.hash(password);
  if (passwordHash === null) return unavailable();
  const { name, fullName, email } = entries;
  const channelNames = channelNamesOf(entries);
  const params = { secret, name, fullName, email, passwordHash, channelNames };
  const done = await realm.dispatcher.ask(command({ actor: "realm" }, "realm.set-up", params, null));
  if (done.kind === "refused") {
    if (done.code === "NOT_FOUND") return sentAgain(request, tools, address);
    return done.code === "BAD_REQUEST" ? form(entries, { field: "form", text: done.msg }) : unavailable();
  }
  tools.onSetUp(realm);
  const user = realm.view.users.byEmail(email);
  return user === undefined ? ended() : welcome(request, { user, passwordHash }, tools, address);
}

/**
 * A person who presses the button twice sees only the second answer. The right password gets the first one; another one
 * is a failed login, so guessing here costs what guessing anywhere does.
 */
async function sentAgain(request: PageRequest, tools: SetupTools, address: string): Promise<HttpReply> {
  const sent = request.form();
  if (isRefusal(sent)) return unreadable();
  const given = { username: entriesOf(sent).email, password: sent.values.get("password") ?? "" };
  const login = await verifyLogin(request.realm, given, address, tools);
  if ("user" in login) {
    tools.onSetUp(request.realm);
    return welcome(request, login, tools, address);
  }
  if (login.code === "RATE_LIMIT_HIT") return tooManyPage(Number(login.fields?.["retry-after"] ?? 60));
  return login.code === "OVERLOADED" ? unavailable() : ended();
}

/** Logs the owner in (D256), and leads to the topic in which the notification bot explains topics. */
async function welcome(
  request: PageRequest,
  login: VerifiedLogin,
  tools: SetupTools,
  address: string,
): Promise<HttpReply> {
  const { realm, siteUrl, userAgent } = request;
  const started = await startSession(realm, login, { siteUrl, userAgent, address });
  if (started.kind === "refused") return ended();
  const page =
    tools.webPage === null
      ? messagePage(200, { title: `${realm.view.realm.name} is set up`, text: "Log in with any client." })
      : redirectPage(`/#narrow/channel/1-general/topic/${welcomeTopic}`);
  return { ...page, headers: [...page.headers, sessionCookie(started.session ?? null, siteUrl.startsWith("https:"))] };
}

function waiting(): HttpReply {
  return messagePage(200, {
    title: "This organization is not set up yet",
    text: "Open the link that the server printed when it started. The operator of the server can show it again with the command setup-link.",
  });
}

function unknown(): HttpReply {
  return messagePage(404, {
    title: "This link is not valid",
    text: "Look whether it is whole. The operator of the server can show it again with the command setup-link.",
  });
}

function ended(): HttpReply {
  return messagePage(404, {
    title: "This organization is set up",
    text: "The link was used, or a password was chosen for the owner in another way.",
    link: { to: "/", text: "Log in" },
  });
}

function unreadable(): HttpReply {
  return messagePage(400, { title: "This form cannot be read", text: "Go back and try again." });
}

function unavailable(): HttpReply {
  return messagePage(503, { title: "The organization cannot be set up right now", text: "Try again later." });
}
