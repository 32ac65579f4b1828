/** The first line, before the modules of the agent are loaded. */
export function bannerText(nodeCount: number, version: string): string {
  const nodes = nodeCount === 1 ? 'one node' : `${nodeCount} nodes`;
  return (
    `contiv-vswitch ${version}: ${nodes} with simulated VPP and Linux, and an embedded store. ` +
    'Nothing on this machine is changed.\n'
  );
}
