/** The views of the page, in the order of the navigation. Each is loaded when it is shown first. */
import type { ComponentType } from 'preact';

export interface View {
  /** In addresses. */
  readonly name: string;
  readonly title: string;
  /** It is opened in another way than by the navigation. */
  readonly isUnlisted?: true;
  load(): Promise<ComponentType>;
}

export const views: readonly View[] = [
  {
    name: '',
    title: 'Overview',
    load: async () => (await import('./views/overview/overview.tsx')).Overview,
  },
  {
    name: 'cluster',
    title: 'Cluster',
    load: async () => (await import('./views/cluster/cluster.tsx')).Cluster,
  },
  {
    name: 'events',
    title: 'Events',
    load: async () => (await import('./views/events/events.tsx')).Events,
  },
  {
    name: 'transactions',
    title: 'Transactions',
    load: async () => (await import('./views/transactions/transactions.tsx')).Transactions,
  },
  {
    name: 'values',
    title: 'Configuration',
    load: async () => (await import('./views/values/values.tsx')).Values,
  },
  {
    name: 'pods',
    title: 'Pods',
    load: async () => (await import('./views/pods/pods.tsx')).Pods,
  },
  {
    name: 'nodes',
    title: 'Nodes',
    load: async () => (await import('./views/nodes/nodes.tsx')).Nodes,
  },
  {
    name: 'services',
    title: 'Services',
    load: async () => (await import('./views/services/services.tsx')).Services,
  },
  {
    name: 'policies',
    title: 'Policies',
    load: async () => (await import('./views/policies/policies.tsx')).Policies,
  },
  {
    name: 'flows',
    title: 'Flows',
    load: async () => (await import('./views/flows/flows.tsx')).Flows,
  },
  {
    name: 'connectivity',
    title: 'Connectivity',
    load: async () => (await import('./views/connectivity/connectivity.tsx')).Connectivity,
  },
  {
    name: 'trace',
    title: 'Trace',
    load: async () => (await import('./views/trace/trace.tsx')).Trace,
  },
  {
    name: 'plan',
    title: 'Plan',
    load: async () => (await import('./views/plan/plan.tsx')).Plan,
  },
  {
    name: 'search',
    title: 'Search',
    isUnlisted: true,
    load: async () => (await import('./views/search/search.tsx')).Search,
  },
  {
    name: 'help',
    title: 'Help',
    isUnlisted: true,
    load: async () => (await import('./views/help/help.tsx')).Help,
  },
];
