/** Go's flag package accepts `-flag`, which commander parses as a group of one-letter flags. */
export function twoDashes(argument: string): string {
  return /^-[a-z][a-z0-9-]+(=.*)?$/i.test(argument) ? `-${argument}` : argument;
}
