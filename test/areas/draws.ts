/** Shared by the draws of several areas: addresses, and parameters of requests. */
import type { World } from "../sim/world.ts";

export const self = (id: number) => ({ actor: "user", id }) as const;

export function participants(world: World, senderId: number): number[] {
  return [...new Set([senderId, ...world.users(3)])].sort((a, b) => a - b);
}

export const realm = { actor: "realm" } as const;

/** Mostly all ids of a table, since an order must contain all of them. */
export function order(world: World, table: "linkifiers" | "profileFields" | "channelFolders"): number[] {
  const ids = world.replica.keys(table) as number[];
  return world.random.chance(0.2) ? ids.slice(1) : [...ids].reverse();
}
