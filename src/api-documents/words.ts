/** Texts of the declarations as the documents show them. */

/** References to rules, such as `(spec 4.10)`, `(D28)` or `(M5)`: they name pages of this project. */
const references = /,? \((?:[^()]*; )?(?:spec|behaviour|public API|OpenAPI|[A-Z]\d+)\b[^()]*\)|, D\d+(?=\))/g;

export function withoutReferences(text: string): string {
  return text.replaceAll(references, "");
}

/** `user groups` becomes `User groups`. */
export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** `BAD_EVENT_QUEUE_ID` becomes `BadEventQueueId`, `get-messages` becomes `GetMessages`. */
export function pascalCase(name: string): string {
  return name
    .toLowerCase()
    .split(/[_\-. ]/)
    .map(capitalized)
    .join("");
}
