/** As URLs write them: `10.1.1.2:80`, `[fd01::2]:80`. */
export function hostAndPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
