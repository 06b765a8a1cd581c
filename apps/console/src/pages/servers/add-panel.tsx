import { Plus } from 'lucide-react';
import { useState } from 'react';
import { emptyDraft } from '../../servers/form/server-draft.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { SidePanel } from '../../ui/side-panel.js';
import { Tabs, useAddressState } from '../../ui/tabs.js';
import { AddByForm } from './add-by-form.js';
import { AddByPaste } from './paste/add-by-paste.js';

const t = texts.servers;

/** Opens the panel by the address, so that other pages can link to it: `/servers?add=paste`. */
export function AddButton() {
  const [, setTab] = useAddressState('add', '');
  return (
    <Button icon={Plus} onClick={() => setTab('paste')}>
      <span className="max-tab:sr-only">{t.add}</span>
    </Button>
  );
}

export function AddPanel() {
  const [tab, setTab] = useAddressState('add', '');
  // Kept while the panel is closed, so that `Esc` loses nothing.
  const [text, setText] = useState('');
  const [draft, setDraft] = useState(emptyDraft);
  const close = (): void => setTab('');
  const tabs = [
    {
      id: 'paste',
      label: t.addPaste,
      content: <AddByPaste text={text} onText={setText} onClose={close} />,
    },
    {
      id: 'form',
      label: t.addForm,
      content: <AddByForm draft={draft} onDraft={setDraft} onClose={close} />,
    },
  ];
  return (
    <SidePanel isOpen={tab !== ''} onClose={close} title={t.add}>
      <Tabs label={t.add} param="add" usual="" tabs={tabs} />
    </SidePanel>
  );
}
