/** Code playgrounds of an organization (spec 4.18): websites where clients can open a code block. */

import { isTemplate, isWebTemplate, variableNames, webTemplateRequired } from "../../domain/markdown/uri-template.ts";

import { playgroundsOf } from "../../domain/playgrounds.ts";
import { checkCharacters } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { PlaygroundInput } from "../../schemas/playgrounds.ts";

import { done, effects, forAdministrator, type Outcome, type Params } from "../protocol/decision.ts";

/** Sent to everybody. It contains the whole list, read on delivery. */
const playgroundsEvent = effects.emit("realm_playgrounds", {}, { to: "realm" });

/** POST /realm/playgrounds. */
export function addPlayground(params: Params<"playground.add">, view: View): Outcome {
  const refused = refuseInput(view, params);
  if (refused !== null) return refused;
  const id = view.counter("playground") + 1;
  const { name, language, urlTemplate } = params;
  return done({ id }, [
    effects.setCounter("playground", id),
    effects.put("playgrounds", id, { id, name, language, urlTemplate }),
    playgroundsEvent,
  ]);
}

/** DELETE /realm/playgrounds/{playground_id}. */
export function removePlayground({ id }: Params<"playground.remove">, view: View): Outcome {
  if (view.row("playgrounds", id) === undefined) return refuse.badRequest("Invalid playground");
  return done({}, [effects.remove("playgrounds", id), playgroundsEvent]);
}

/** The allowed characters of lexer names (public API); whether the lexer exists is not checked. */
const languageForm = /^[ a-zA-Z0-9_+\-./#]*$/;

/** Exactly one variable, `code`, which may occur more than once in the template. */
function refuseInput(view: View, { name, language, urlTemplate }: PlaygroundInput): Refusal | null {
  if (name === "" || language.trim() === "" || urlTemplate === "") {
    return refuse.badRequest("This field cannot be blank.");
  }
  const badName = checkCharacters("name", name);
  if (badName !== null) return badName;
  if (!languageForm.test(language)) return refuse.badRequest("Invalid characters in pygments language");
  if (!isTemplate(urlTemplate)) return refuse.badRequest("Invalid URL template.");
  if (!isWebTemplate(urlTemplate)) return refuse.badRequest(webTemplateRequired);
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

export const playgroundsDecisions = {
  "playground.add": forAdministrator(addPlayground),
  "playground.remove": forAdministrator(removePlayground),
} as const;
