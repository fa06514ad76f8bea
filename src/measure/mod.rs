pub mod metric;
