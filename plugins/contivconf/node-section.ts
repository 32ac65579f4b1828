import type { ContivConfig, NodeSection } from './config.ts';

/** The section of a node in the file: the first one with its name. */
export function nodeSection(
  config: ContivConfig,
  nodeName: string,
): { readonly section: NodeSection; readonly index: number } | undefined {
  const index = config.nodeConfig.findIndex((section) => section.nodeName === nodeName);
  const section = config.nodeConfig[index];
  return section && { section, index };
}

/** CIDRs of `ip`: none, one, or several separated by commas. */
export function addressList(ip: string): string[] {
  return ip
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '');
}
