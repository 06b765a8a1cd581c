import { Plus } from 'lucide-react';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { SidePanel } from '../../ui/side-panel.js';
import { useAddressState } from '../../ui/tabs.js';
import { AddByForm } from './add-by-form.js';

const t = texts.servers;

/** Opens the panel by the address, so that other pages can link to it: `/servers?add=form`. */
export function AddButton() {
  const [, setTab] = useAddressState('add', '');
  return (
    <Button icon={Plus} onClick={() => setTab('form')}>
      <span className="max-tab:sr-only">{t.add}</span>
    </Button>
  );
}

export function AddPanel() {
  const [tab, setTab] = useAddressState('add', '');
  return (
    <SidePanel isOpen={tab !== ''} onClose={() => setTab('')} title={t.add}>
      <AddByForm onClose={() => setTab('')} />
    </SidePanel>
  );
}
