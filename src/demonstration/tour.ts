/** Commands to try while the demonstration of the shop on several nodes runs, as README has them. */

export interface TourStop {
  readonly command: string;
  /** A short sentence without a subject. */
  readonly shows: string;
}

/** @param recordings folder of the recordings of a node */
export function tour(recordings: string): readonly TourStop[] {
  return [
    {
      command: 'npm run -s netctl -- plan -f examples/tour/web-reads-orders.yaml',
      shows: 'lists what a manifest would permit and change on each node, before it is applied',
    },
    {
      command: 'npm run -s netctl connectivity storefront/web backoffice/ledger-0',
      shows: 'names the policies that deny, or permit, a connection',
    },
    {
      command: 'npm run -s netctl -- trace backoffice/ledger-1 backoffice/ledger-0 --to-port 5432',
      shows:
        'follows a packet and its reply through both nodes, with each route and ACL that decides',
    },
    {
      command:
        'npm run -s netctl vppcli node-2 set interface state tap1 down; npm run -s netctl plan',
      shows: 'changes VPP behind the agent, and lists how it differs from what is desired',
    },
    {
      command: `npm run -s agent -- replay ${recordings}`,
      shows: 'runs the recorded events of a node again, and compares each transaction',
    },
  ];
}
