/** The bounds of the parameters that a client submits, by name, in a form or in a frame (S3). */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";

/**
 * Adds one value.
 * @returns a rejection, or null
 */
export function addParameter<V>(form: Map<string, V>, name: string, value: V): Refusal | null {
  if (name.length > limits.form_name_characters_max) return refuse.badRequest("A parameter's name is too long");
  if (form.has(name)) return refuse.badRequest(`Parameter '${name}' was sent twice`);
  if (form.size >= limits.form_parameters_max) return tooManyParameters();
  form.set(name, value);
  return null;
}

export function tooManyParameters(): Refusal {
  return refuse.badRequest("Too many parameters");
}
