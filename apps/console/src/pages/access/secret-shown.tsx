import { texts } from '../../texts/index.js';
import { Banner } from '../../ui/banner.js';
import { Button } from '../../ui/button.js';
import { CodeBlock } from '../../ui/code-block.js';
import { Dialog } from '../../ui/dialog.js';

const { access: t } = texts;

interface SecretShownProps {
  readonly name: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** The only time that a secret is shown; a click beside the dialog does not close it. */
export function SecretShown({ name, secret, onClose }: SecretShownProps) {
  return (
    <Dialog
      isOpen
      onClose={() => undefined}
      title={t.secretTitle(name)}
      footer={
        <Button kind="primary" onClick={onClose}>
          {t.secretDone}
        </Button>
      }
    >
      <Banner kind="warn" className="mb-3">
        {t.secretOnce}
      </Banner>
      <CodeBlock code={secret} wrap />
      <p className="text-text-2 mt-3 mb-1 text-small">{t.secretUse}</p>
      <CodeBlock code={`Authorization: Bearer ${secret}`} wrap />
    </Dialog>
  );
}
