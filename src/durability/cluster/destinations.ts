/** The destination of a request: the organization that its Host header selects, on the node that serves it. */
import { hostOf, RealmNames } from "../../store/realm-names.ts";
import type { Directory } from "./directory.ts";
import type { NodeWatch } from "./node-watch.ts";

export type Destination =
  /** This node serves it. */
  | { readonly kind: "here" }
  | { readonly kind: "node"; readonly instance: string; readonly address: string }
  /** No node serves it at the moment, or it does not exist. */
  | { readonly kind: "nobody" };

export interface DestinationsOptions {
  readonly instance: string;
  readonly directory: Directory;
  readonly watch: NodeWatch;
  readonly owns: (realmId: number) => boolean;
}

interface Place {
  readonly id: number;
  readonly instance: string;
  readonly label: string;
  readonly hosts: readonly string[];
}

const here = { kind: "here" } as const;
const nobody = { kind: "nobody" } as const;

export class Destinations {
  readonly #options: DestinationsOptions;
  #names = new RealmNames<Place>([]);
  #version = -1;
  /** Most requests have the same host as the one before. */
  #last: { readonly hostHeader: string; readonly place: Place | undefined } | null = null;

  constructor(options: DestinationsOptions) {
    this.#options = options;
  }

  find(hostHeader: string): Destination {
    const { instance, watch, owns } = this.#options;
    const place = this.#placeOf(hostHeader);
    if (place === undefined) return nobody;
    if (owns(place.id)) return here;
    if (place.instance === instance) return nobody;
    const node = watch.find(place.instance);
    return node === null ? nobody : { kind: "node", instance: node.instance, address: node.address };
  }

  #placeOf(hostHeader: string): Place | undefined {
    const { directory } = this.#options;
    if (directory.version !== this.#version) {
      this.#version = directory.version;
      this.#last = null;
      this.#names = new RealmNames(directory.owners().map(([id, { value }]) => ({ ...value, id })));
    }
    if (this.#last?.hostHeader !== hostHeader) {
      this.#last = { hostHeader, place: this.#names.find(hostOf(hostHeader)) };
    }
    return this.#last.place;
  }
}
