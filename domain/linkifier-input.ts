/** Checks new linkifiers, and shows what one would make of a text. */
import { type Refusal, refuse } from "../schemas/errors.ts";
import { limits } from "../schemas/limits.ts";
import type { LinkifierInput } from "../schemas/linkifiers.ts";
import { groupNames, LinkifierFinder, linkifierProblem } from "./markdown/linkifiers.ts";
import { variableNames, webTemplateRequired } from "./markdown/uri-template.ts";
import { checkLine, codePoints } from "./text.ts";

/** Checks the pattern and the template separately, then that their names match. */
export function refuseLinkifier({ pattern, urlTemplate }: LinkifierInput): Refusal | null {
  if (pattern === "" || urlTemplate === "") return refuse.badRequest("This field cannot be blank.");
  const badCharacter = checkLine("pattern", pattern) ?? checkLine("url_template", urlTemplate);
  if (badCharacter !== null) return badCharacter;
  if (codePoints(urlTemplate) > limits.url_code_points_max) return refuse.badRequest("Invalid URL template.");
  const problem = linkifierProblem({ pattern, urlTemplate });
  if (problem === "pattern") return refuse.badRequest(`Bad regular expression: ${pattern}`);
  if (problem === "template") return refuse.badRequest("Invalid URL template.");
  if (problem === "scheme") return refuse.badRequest(webTemplateRequired);
  const [inPattern, inTemplate] = [groupNames(pattern), variableNames(urlTemplate)];
  const unused = inPattern.find((name) => !inTemplate.includes(name));
  if (unused !== undefined) {
    return refuse.badRequest(`Group '${unused}' in linkifier pattern is not present in URL template.`);
  }
  const unknown = inTemplate.find((name) => !inPattern.includes(name));
  return unknown === undefined
    ? null
    : refuse.badRequest(`Group '${unknown}' in URL template is not present in linkifier pattern.`);
}

/** The links that a linkifier makes if it is the only one, in the bounds of a message. */
export function linksOf(linkifier: LinkifierInput, text: string): readonly { text: string; url: string }[] {
  return new LinkifierFinder([linkifier])
    .find(text)
    .map(({ start, end, href }) => ({ text: text.slice(start, end), url: href }));
}
