"""The store on MariaDB and MySQL: any number of processes on one database."""

from procession.store.mysql.store import MysqlStore

__all__ = ["MysqlStore"]
