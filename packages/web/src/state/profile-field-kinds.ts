/** The types of custom profile fields, and their data, which the API carries as JSON. */
export const fieldTypes = { short: 1, long: 2, list: 3, date: 4, link: 5, people: 6, account: 7, pronouns: 8 } as const;

export const fieldTypeNames: readonly (readonly [number, string])[] = [
  [fieldTypes.short, "Short text"],
  [fieldTypes.long, "Long text"],
  [fieldTypes.list, "List of choices"],
  [fieldTypes.date, "Date"],
  [fieldTypes.link, "Link"],
  [fieldTypes.people, "People"],
  [fieldTypes.account, "Account elsewhere"],
  [fieldTypes.pronouns, "Pronouns"],
];

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const data = JSON.parse(text) as unknown;
    return typeof data === "object" && data !== null ? (data as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

/** The choices of a list, in their order. */
export function choicesOf(fieldData: string): readonly (readonly [key: string, text: string])[] {
  return Object.entries(parsed(fieldData))
    .map(([key, choice]) => [key, choice as { readonly text?: string; readonly order?: string }] as const)
    .sort(([, a], [, b]) => Number(a.order) - Number(b.order))
    .map(([key, { text = "" }]) => [key, text] as const);
}

/**
 * @param text a choice on each line
 * @param before the present choices, whose keys stay: people's values refer to them
 */
export function choiceData(text: string, before: ReturnType<typeof choicesOf> = []): Record<string, object> {
  const texts = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const keys = new Map(before.map(([key, shown]) => [shown, key]));
  let next = Math.max(-1, ...before.map(([key]) => Number(key))) + 1;
  return Object.fromEntries(
    texts.map((shown, index) => [keys.get(shown) ?? String(next++), { text: shown, order: String(index + 1) }]),
  );
}

/** Ids in the value of a field of people. */
export function idsOf(value: string): readonly number[] {
  const ids = Object.values(parsed(value));
  return ids.filter((id): id is number => typeof id === "number");
}
