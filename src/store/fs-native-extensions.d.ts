/** What we use of a package that brings no types. */
declare module "fs-native-extensions" {
  /** Does not wait. @returns false when somebody else holds a lock on these bytes @throws Error where there are no such locks */
  export function tryLock(file: number, offset: number, length: number): boolean;
}
