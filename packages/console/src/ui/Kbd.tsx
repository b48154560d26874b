import styles from './Kbd.module.css'

/** Keys to press one after the other: `<Kbd keys="g c" />`. */
export const Kbd = ({ keys }: { keys: string }) => (
  <span className={styles.keys}>
    {keys.split(' ').map((key) => (
      <kbd key={key} className={styles.key}>
        {key}
      </kbd>
    ))}
  </span>
)
