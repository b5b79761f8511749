/** For its test: the scripts in this folder are not type-checked. */
export class Failures {
  note(line: string): void;
  readonly titles: readonly string[];
  readonly lines: readonly string[];
}
