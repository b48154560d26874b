import { Outlet } from '@tanstack/react-router'
import head from '../../shell/Layouts.module.css'
import { NavAnchor, NavTab, NavTabs } from '../../ui/Tabs.tsx'

/** Of what belongs to a person. How they sign in is on the server's own pages, which also work without this. */
export function AccountLayout() {
  return (
    <>
      <div className={head.head}>
        <p className={head.name}>Your account</p>
        <NavTabs label="Account">
          <NavTab to="/account" exact>
            Profile
          </NavTab>
          <NavTab to="/account/keys">Keys</NavTab>
          <NavTab to="/account/agents">Agents</NavTab>
          <NavAnchor href="/account/sessions">Sessions</NavAnchor>
          <NavAnchor href="/account/security">Security</NavAnchor>
        </NavTabs>
      </div>
      <Outlet />
    </>
  )
}
