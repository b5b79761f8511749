/**
 * One declaration per type of event: for each op, what the log stores and what clients get. `emit`, the rows of the log
 * and the builders of `src/edge/realtime` are typed by it; tests check every event that is sent against it.
 *
 * Stored bodies hold references where the content depends on the reader or may change before delivery. A field that
 * older versions did not store is optional.
 */
import type { Static, TObject, TProperties } from "typebox";

/** The fields of an event besides `type`, `op` and `id`; a list if it has several forms. */
type Fields = TProperties | readonly TProperties[];
/** By op; "": events of this type have no op. */
export type Variants = Readonly<Record<string, Fields>>;

export interface EventDeclaration<S extends Variants = Variants, W extends Variants = Variants> {
  readonly stored: S;
  readonly wire: W;
}

export function defineEvent<const S extends Variants, const W extends Variants>(
  declaration: EventDeclaration<S, W>,
): EventDeclaration<S, W> {
  return declaration;
}

/** An event that is sent as it is stored. */
export function sentAsStored<const V extends Variants>(variants: V): EventDeclaration<V, V> {
  return { stored: variants, wire: variants };
}

export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

type FormOf<P> = P extends TProperties ? Static<TObject<P>> : never;
type FieldsOf<F> = F extends readonly (infer P)[] ? FormOf<P> : FormOf<F>;
type OpOf<Op> = Op extends "" ? unknown : { op: Op };

/** Every body of these variants. */
export type BodyOf<V extends Variants> = { [Op in keyof V]: DeepReadonly<OpOf<Op> & FieldsOf<V[Op]>> }[keyof V];

/** The forms of an op, as a list. */
export function formsOf(fields: Fields): readonly TProperties[] {
  return Array.isArray(fields) ? fields : [fields as TProperties];
}
