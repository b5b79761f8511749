// RFC 6570 URI templates for linkifiers and playgrounds: string variables, all operators, prefix and explode modifiers
// (explode has no effect on strings). A variable without a value is left out. Linear, never throws.

interface Operator {
  readonly first: string;
  readonly separator: string;
  readonly named: boolean;
  /** Text after a name whose value is empty. */
  readonly ifEmpty: string;
  readonly keepReserved: boolean;
}

const SIMPLE: Operator = { first: "", separator: ",", named: false, ifEmpty: "", keepReserved: false };
const OPERATORS: Readonly<Record<string, Operator>> = {
  "+": { ...SIMPLE, keepReserved: true },
  "#": { ...SIMPLE, first: "#", keepReserved: true },
  ".": { ...SIMPLE, first: ".", separator: "." },
  "/": { ...SIMPLE, first: "/", separator: "/" },
  ";": { ...SIMPLE, first: ";", separator: ";", named: true },
  "?": { ...SIMPLE, first: "?", separator: "&", named: true, ifEmpty: "=" },
  "&": { ...SIMPLE, first: "&", separator: "&", named: true, ifEmpty: "=" },
};

const EXPRESSION = /\{([^{}]*)\}/g;
const EXPRESSION_FORM = /^[+#./;?&]?[A-Za-z0-9_.%]+(?::[1-9]\d{0,3}|\*)?(?:,[A-Za-z0-9_.%]+(?::[1-9]\d{0,3}|\*)?)*$/;
const VARIABLE = /^([^:*]+)(?::(\d+))?/;
const RESERVED_ESCAPES = /%(?:3A|2F|3F|23|5B|5D|40|21|24|26|27|28|29|2A|2B|2C|3B|3D)/g;
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** True if every brace belongs to a well-formed expression. */
export function isTemplate(template: string): boolean {
  if (/[{}]/.test(template.replace(EXPRESSION, ""))) return false;
  return Array.from(template.matchAll(EXPRESSION)).every((match) => EXPRESSION_FORM.test(match[1] ?? ""));
}

/** Whether all that the template can make are http and https URLs: it names the scheme itself. */
export function isWebTemplate(template: string): boolean {
  return /^https?:\/\/[^\s\\/?#]/i.test(template);
}

export const webTemplateRequired = "The URL template must begin with https:// or http://.";

/** Names of a template's variables, without duplicates. */
export function variableNames(template: string): string[] {
  const expressions = Array.from(template.matchAll(EXPRESSION), ([, expression = ""]) => expression);
  const specifications = expressions.flatMap((expression) => expression.replace(/^[+#./;?&]/, "").split(","));
  return [...new Set(specifications.map((specification) => VARIABLE.exec(specification)?.[1] ?? ""))];
}

/** Expands the template with these values. */
export function expandTemplate(template: string, values: Readonly<Record<string, string | undefined>>): string {
  return template.replace(EXPRESSION, (_, expression: string) => {
    const operator = OPERATORS[expression.charAt(0)];
    const names = (operator === undefined ? expression : expression.slice(1)).split(",");
    const used = operator ?? SIMPLE;
    const parts = names.flatMap((name) => expandVariable(name, used, values));
    return parts.length === 0 ? "" : used.first + parts.join(used.separator);
  });
}

function expandVariable(
  specification: string,
  operator: Operator,
  values: Readonly<Record<string, string | undefined>>,
): string[] {
  const [, name = "", length] = VARIABLE.exec(specification) ?? [];
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined) return [];
  const shown = length === undefined ? value : Array.from(value).slice(0, Number(length)).join("");
  const encoded = encodeValue(shown, operator.keepReserved);
  if (!operator.named) return [encoded];
  return [encoded === "" ? name + operator.ifEmpty : `${name}=${encoded}`];
}

function encodeValue(value: string, keepReserved: boolean): string {
  const encoded = encodeURIComponent(value.replace(LONE_SURROGATE, "\ufffd"));
  if (keepReserved)
    return encoded.replace(RESERVED_ESCAPES, (encodedCharacter) => decodeURIComponent(encodedCharacter));
  return encoded.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
