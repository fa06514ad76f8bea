//! stub
pub struct Written {
    pub html: std::path::PathBuf,
}
pub fn write(run: &std::path::Path, _store: &crate::store::Store) -> anyhow::Result<Written> {
    Ok(Written { html: run.join("report.html") })
}
