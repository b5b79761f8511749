/** Code playgrounds of an organization (spec 4.18): where clients let people run a block of code. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { isTemplate, variableNames } from "../../src/domain/markdown/uri-template.ts";
import { isAdministrator } from "../../src/domain/permissions.ts";
import { playgroundsOf } from "../../src/domain/playgrounds.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command, PlaygroundDraft } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";

/** Everybody gets the whole list, as it is when it is told. */
const playgroundsEvent = effects.emit("realm_playgrounds", {}, { to: "realm" });

/** POST /realm/playgrounds. */
export function addPlayground(_context: unknown, asked: Command<"playground.add">, view: View): Outcome {
  const refused = refuseCaller(asked, view) ?? refuseDraft(view, asked.params);
  if (refused !== null) return refused;
  const id = view.counter("playground") + 1;
  const { name, language, urlTemplate } = asked.params;
  return done({ id }, [
    effects.count("playground", id),
    effects.put("playgrounds", id, { id, name, language, urlTemplate }),
    playgroundsEvent,
  ]);
}

/** DELETE /realm/playgrounds/{playground_id}. */
export function removePlayground(_context: unknown, asked: Command<"playground.remove">, view: View): Outcome {
  const refused = refuseCaller(asked, view);
  if (refused !== null) return refused;
  const { id } = asked.params;
  if (view.row("playgrounds", id) === undefined) return refuse.badRequest("Invalid playground");
  return done({}, [effects.remove("playgrounds", id), playgroundsEvent]);
}

function refuseCaller(asked: Command, view: View): Refusal | null {
  const caller = callerOf(asked, view);
  return caller === null || isAdministrator(caller) ? null : refuse.administratorRequired();
}

/** Names of lexers have letters, digits and a few signs (public API); which ones there are is not asked. */
const languageForm = /^[ a-zA-Z0-9_+\-./#]*$/;

/** Exactly one variable, `code`; it may stand in the template more than once. */
function refuseDraft(view: View, { name, language, urlTemplate }: PlaygroundDraft): Refusal | null {
  if (name === "" || language.trim() === "" || urlTemplate === "") {
    return refuse.badRequest("This field cannot be blank.");
  }
  if (!languageForm.test(language)) return refuse.badRequest("Invalid characters in pygments language");
  if (!isTemplate(urlTemplate)) return refuse.badRequest("Invalid URL template.");
  const variables = variableNames(urlTemplate);
  if (!variables.includes("code")) {
    return refuse.badRequest('Missing the required variable "code" in the URL template');
  }
  if (variables.length > 1) {
    return refuse.badRequest('"code" should be the only variable present in the URL template');
  }
  const others = playgroundsOf(view);
  if (others.some((other) => other.name === name && other.language === language)) {
    return refuse.badRequest("Realm playground with this Realm, Pygments language and Name already exists.");
  }
  return others.length >= limits.playgrounds_per_realm_max ? refuse.badRequest("Too many playgrounds") : null;
}
