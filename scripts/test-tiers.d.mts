/** For the test that reads the table: the scripts in this folder are not type-checked. */
export const tiers: readonly {
  readonly file: string;
  readonly quick: Readonly<Record<string, number>> | null;
  readonly deep: Readonly<Record<string, number>>;
}[];
