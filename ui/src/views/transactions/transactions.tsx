/** Transactions of the scheduler: all of them, or one with its operations. */
import { place } from '../../location.ts';
import { TransactionView } from './transaction.tsx';
import { TransactionListView } from './transaction-list.tsx';

export function Transactions() {
  const txn = place.value.query.get('txn');
  if (txn === null || !/^\d{1,15}$/.test(txn)) return <TransactionListView />;
  return <TransactionView key={txn} seqNum={Number(txn)} />;
}
